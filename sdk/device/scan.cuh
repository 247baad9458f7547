// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_CUH
#define SPANWISE_SCAN_CUH

// For CUDA C kernels: #include <spanwise/scan.cuh>. Scans of lines in one pass: each element is
// read once and each result written once. Blocks tell those after them what they have (decoupled
// look-back: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// 2016), but add up the same sums in the same order whoever comes first, so that results are the
// same from run to run. spanwise/scan.hpp says on the host what a launch needs.

#include <spanwise/pack.cuh>

namespace spanwise {

/// Threads of a block, and the bytes that it has in shared memory: of elements or of results,
/// whichever are longer. Each thread has so many of them, one after the other in memory.
constexpr int scan_threads = 256, scan_tile_bytes = 32768;

/// A line that is scanned; steps in elements.
struct ScanLine {
  long long length, step, result_step;
};

// A Body says what is scanned, by types Element, Result and Acc (of whole 4 bytes, moved by
// memcpy) and functions: Acc identity(), Acc lift(Element), Acc combine(Acc a, Acc b), where a
// stands before b, and Result result(Acc before, Acc through): of an element, by what stands
// before it, and that with it. combine() is associative and need not commute.

// ---- what the lanes of a warp have

template <class A>
__device__ __forceinline__ A scan_from_lane(A x, int lane) {
  unsigned int words[sizeof(A) / 4];
  memcpy(words, &x, sizeof(A));
#pragma unroll
  for (int i = 0; i < (int)(sizeof(A) / 4); ++i)
    words[i] = __shfl_sync(0xffffffffu, words[i], lane);
  memcpy(&x, words, sizeof(A));
  return x;
}
// Each lane's with those of the lanes before it.
template <class Body>
__device__ __forceinline__ typename Body::Acc scan_of_lanes(typename Body::Acc own) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const typename Body::Acc below = scan_from_lane(own, (lane - distance) & 31);
    if (lane >= distance) own = Body::combine(below, own);
  }
  return own;
}

// ---- a part of a line that a warp has at hand

/// `items` elements a lane, one after the other. They are read and written by neighbouring lanes
/// from neighbouring places, by packs where `packed`, and change hands in shared memory. All of a
/// warp calls each function; `whole` where the line has all of the elements.
template <class Body, int items, bool packed>
class ScanPart {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int elements = 32 * items;

  /// The part from element `first` of `line` on; `room` is the warp's own.
  __device__ __forceinline__ ScanPart(unsigned char* room, const ScanLine& line, long long first)
      : room_(room), line_(line), first_(first), lane_(threadIdx.x % 32) {
    const long long left = line.length - first - lane_ * items;
    count_ = left < 0 ? 0 : left < items ? (int)left : items;
  }

  template <bool whole>
  __device__ __forceinline__ void read(const E* x) {
    if (packed) {
#pragma unroll
      for (int k = 0; k < packs<E>; ++k) {
        const long long i = first_ + (k * 32 + lane_) * width<E>;
        E* const place = room_of<E>(k * 32 + lane_);
        if (whole || i + width<E> <= line_.length) {
          fetch_pack<width<E>>(place, x + i);
        } else {
#pragma unroll
          for (int w = 0; w < width<E>; ++w)
            if (i + w < line_.length) place[w] = x[i + w];
        }
      }
      wait_for_fetches();
    } else {
      constexpr int batch = items < 16 ? items : 16;
#pragma unroll 1
      for (int begin = 0; begin < items; begin += batch) {
        E held[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) {
          const long long i = first_ + (begin + k) * 32 + lane_;
          if (whole || i < line_.length) held[k] = x[i * line_.step];
        }
#pragma unroll
        for (int k = 0; k < batch; ++k) *element_room<E>((begin + k) * 32 + lane_) = held[k];
      }
    }
    __syncwarp();
  }

  /// What the lane has.
  template <bool whole>
  __device__ __forceinline__ A total() const {
    A all = Body::identity();
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(room_of<E>(lane_ * packs<E> + k));
      // Packs by themselves first: a chain of additions would keep each waiting for the last.
      A own = whole || k * width<E> < count_ ? Body::lift(pack.x[0]) : Body::identity();
#pragma unroll
      for (int w = 1; w < width<E>; ++w)
        if (whole || k * width<E> + w < count_) own = Body::combine(own, Body::lift(pack.x[w]));
      all = k == 0 ? own : Body::combine(all, own);
    }
    return all;
  }

  /// The results, where `before` stands before the lane's elements.
  template <bool whole>
  __device__ __forceinline__ void write(Z* z, A before) {
    // Results of the elements' size take their places one by one; others would overwrite elements
    // that a lane has not read.
    put_results<whole>(before, Order<sizeof(E) == sizeof(Z)>());
    __syncwarp();
    if (packed)
      write_packs<whole>(z);
    else
#pragma unroll 4
      for (int k = 0; k < items; ++k) {
        const long long i = first_ + k * 32 + lane_;
        if (whole || i < line_.length) z[i * line_.result_step] = *element_room<Z>(k * 32 + lane_);
      }
    __syncwarp();
  }

 private:
  // Of a pack, and how many packs a lane has.
  template <class T>
  static constexpr int width = (int)sizeof(T) * items <= 16 ? items : 16 / (int)sizeof(T);
  template <class T>
  static constexpr int packs = items / width<T>;

  template <bool whole>
  __device__ __forceinline__ void next(E x, int number, Z& result, A& before) const {
    if (!whole && number >= count_) return;
    const A through = Body::combine(before, Body::lift(x));
    result = Body::result(before, through);
    before = through;
  }
  template <bool in_place>
  struct Order {};
  template <bool whole>
  __device__ __forceinline__ void put_results(A before, Order<true>) const {
    // Not unrolled further: registers are worth more to the blocks that wait for others.
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(room_of<E>(lane_ * packs<E> + k));
      Pack<Z, width<E>> results;
#pragma unroll
      for (int w = 0; w < width<E>; ++w)
        next<whole>(pack.x[w], k * width<E> + w, results.x[w], before);
      put_pack(room_of<Z>(lane_ * packs<E> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void put_results(A before, Order<false>) const {
    Pack<E, width<E>> held[packs<E>];
#pragma unroll
    for (int k = 0; k < packs<E>; ++k)
      held[k] = load_pack<width<E>>(room_of<E>(lane_ * packs<E> + k));
    __syncwarp();
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      Pack<Z, width<Z>> results;
#pragma unroll
      for (int w = 0; w < width<Z>; ++w) {
        constexpr int wide = width<E>;
        const int i = k * width<Z> + w;
        next<whole>(held[i / wide].x[i % wide], i, results.x[w], before);
      }
      put_pack(room_of<Z>(lane_ * packs<Z> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void write_packs(Z* z) const {
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      const long long i = first_ + (k * 32 + lane_) * width<Z>;
      const Pack<Z, width<Z>> pack = load_pack<width<Z>>(room_of<Z>(k * 32 + lane_));
      if (whole || i + width<Z> <= line_.length) {
        store_pack(z + i, pack);
      } else {
#pragma unroll
        for (int w = 0; w < width<Z>; ++w)
          if (i + w < line_.length) z[i + w] = pack.x[w];
      }
    }
  }

  // Where pack `number` lies. Eight lanes' accesses of 16 bytes are to be in all the banks, whether
  // their packs are neighbours or so many apart as a lane has.
  template <class T>
  __device__ __forceinline__ T* room_of(int number) const {
    const int at = packs<T> > 1 ? number ^ (number >> 3 & 7) : number;
    return (T*)room_ + at * width<T>;
  }
  template <class T>
  __device__ __forceinline__ T* element_room(int number) const {
    return room_of<T>(number / width<T>) + number % width<T>;
  }

  unsigned char* const room_;
  const ScanLine& line_;
  const long long first_;
  const int lane_;
  int count_;
};

template <class Body>
struct ScanItems {
  static constexpr int longest = sizeof(typename Body::Element) > sizeof(typename Body::Result)
                                     ? (int)sizeof(typename Body::Element)
                                     : (int)sizeof(typename Body::Result);
  static constexpr int of_lane = scan_tile_bytes / scan_threads / longest;
};

// ---- a line of a warp's own

/// By the warp that calls it; `tile` is the block's, of scan_tile_bytes.
template <class Body, bool packed>
class WarpScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;

  __device__ __forceinline__ WarpScan(const E* x, Z* z, const ScanLine& line, unsigned char* tile)
      : x_(x),
        z_(z),
        line_(line),
        room_(tile + threadIdx.x / 32 * (32 * scan_tile_bytes / scan_threads)),
        carry_(Body::identity()) {}

  __device__ __forceinline__ void run() {
    constexpr int most = ScanItems<Body>::of_lane;
    do_parts<most>();
    do_parts<most / 4>();
    do_parts<most / 8>();
    if (first_ < line_.length) do_part<most / 8, false>();
  }

 private:
  template <int items>
  __device__ __forceinline__ void do_parts() {
    while (first_ + 32 * items <= line_.length) do_part<items, true>();
  }
  template <int items, bool whole>
  __device__ __forceinline__ void do_part() {
    ScanPart<Body, items, packed> part(room_, line_, first_);
    part.template read<whole>(x_);
    const A own = scan_of_lanes<Body>(part.template total<whole>());
    const A below = scan_from_lane(own, (threadIdx.x - 1) & 31);
    part.template write<whole>(z_, threadIdx.x % 32 > 0 ? Body::combine(carry_, below) : carry_);
    carry_ = Body::combine(carry_, scan_from_lane(own, 31));
    first_ += part.elements;
  }

  const E* const x_;
  Z* const z_;
  const ScanLine& line_;
  unsigned char* const room_;
  A carry_;
  long long first_ = 0;
};

}  // namespace spanwise

#endif
