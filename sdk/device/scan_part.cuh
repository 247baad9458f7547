// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_PART_CUH
#define SPANWISE_SCAN_PART_CUH

// For CUDA C kernels; included by <spanwise/scan.cuh>. Shared by the scans of warps and of blocks.

#include <spanwise/pack.cuh>

namespace spanwise {

/// Threads per block, and the bytes of a thread's elements or results, whichever are larger, in
/// one buffer in shared memory. Each thread has the same number of consecutive ones.
constexpr int scan_threads = 128, scan_thread_bytes = 128;
constexpr int scan_buffer_bytes = scan_threads * scan_thread_bytes;

/// A line to scan; steps in elements.
struct ScanLine {
  long long length, step, result_step;
};

// A Body defines the scan by the types Element, Result and Acc (whose size is a multiple of 4
// bytes; copied by memcpy) and the functions Acc identity(), Acc transform(Element), Acc
// combine(Acc a, Acc b), where a precedes b, and Result result(Acc before, Acc through), the result
// of an element, where `before` combines all elements before it and `through` includes it.
// combine() is associative and need not commute.

// ---- scan across the lanes of a warp

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
// Inclusive scan of the lanes' values.
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

// ---- a part of a line in the shared memory of a warp

/// `items` consecutive elements per lane. Neighbouring lanes read and write neighbouring elements
/// in global memory, as packs if `packed`; shared memory transposes them. All lanes of the warp
/// call each function; `whole` if the line contains all elements of the part. fetch() begins to
/// read the part into shared memory; the other functions are called after it has been waited for.
template <class Body, int items, bool packed>
class ScanPart {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int elements = 32 * items;

  /// The part from element `first` of `line` on; `scratch` is the warp's share of the buffer.
  __device__ __forceinline__ ScanPart(unsigned char* scratch, const ScanLine& line, long long first)
      : scratch_(scratch), line_(line), first_(first), lane_(threadIdx.x % 32) {
    const long long left = line.length - first - lane_ * items;
    count_ = left < 0 ? 0 : left < items ? (int)left : items;
  }

  __device__ __forceinline__ bool is_whole() const { return first_ + elements <= line_.length; }

  /// Begins to read the part, as one group of fetches (commit_fetches()).
  template <bool whole>
  __device__ __forceinline__ void fetch(const E* x) {
    fetch_elements<whole>(x);
    commit_fetches();
  }

  /// The combined elements of the lane.
  template <bool whole>
  __device__ __forceinline__ A total() const {
    A all = Body::identity();
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
      // Combines within each pack first: a single chain of additions would serialize them.
      A own = whole || k * width<E> < count_ ? Body::transform(pack.x[0]) : Body::identity();
#pragma unroll
      for (int w = 1; w < width<E>; ++w)
        if (whole || k * width<E> + w < count_)
          own = Body::combine(own, Body::transform(pack.x[w]));
      all = k == 0 ? own : Body::combine(all, own);
    }
    return all;
  }

  /// Writes the results; `before` combines all elements before the lane's.
  template <bool whole>
  __device__ __forceinline__ void write(Z* z, A before) {
    // Results of the same size replace their elements one by one. Otherwise they would overwrite
    // elements that other lanes have not read yet.
    store_results<whole>(before, IsInPlace<sizeof(E) == sizeof(Z)>());
    __syncwarp();
    if (packed)
      write_packs<whole>(z);
    else
#pragma unroll 4
      for (int k = 0; k < items; ++k) {
        const long long i = first_ + k * 32 + lane_;
        if (whole || i < line_.length)
          z[i * line_.result_step] = *element_address<Z>(k * 32 + lane_);
      }
    __syncwarp();
  }

 private:
  template <bool whole>
  __device__ __forceinline__ void fetch_elements(const E* x) {
    if (packed) {
#pragma unroll
      for (int k = 0; k < packs<E>; ++k) {
        const long long i = first_ + (k * 32 + lane_) * width<E>;
        E* const target = pack_address<E>(k * 32 + lane_);
        if (whole || i + width<E> <= line_.length) {
          fetch_pack<width<E>>(target, x + i);
        } else {
#pragma unroll
          for (int w = 0; w < width<E>; ++w)
            if (i + w < line_.length) target[w] = x[i + w];
        }
      }
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
        for (int k = 0; k < batch; ++k) *element_address<E>((begin + k) * 32 + lane_) = held[k];
      }
    }
  }

  // Elements per pack, and packs per lane.
  template <class T>
  static constexpr int width = (int)sizeof(T) * items <= 16 ? items : 16 / (int)sizeof(T);
  template <class T>
  static constexpr int packs = items / width<T>;

  template <bool whole>
  __device__ __forceinline__ void scan_element(E x, int number, Z& result, A& before) const {
    if (!whole && number >= count_) return;
    const A through = Body::combine(before, Body::transform(x));
    result = Body::result(before, through);
    before = through;
  }
  template <bool value>
  struct IsInPlace {};
  template <bool whole>
  __device__ __forceinline__ void store_results(A before, IsInPlace<true>) const {
    // Not unrolled further, to save registers: occupancy matters more, because blocks wait for
    // others.
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
      Pack<Z, width<E>> results;
#pragma unroll
      for (int w = 0; w < width<E>; ++w)
        scan_element<whole>(pack.x[w], k * width<E> + w, results.x[w], before);
      store_shared_pack(pack_address<Z>(lane_ * packs<E> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void store_results(A before, IsInPlace<false>) const {
    Pack<E, width<E>> held[packs<E>];
#pragma unroll
    for (int k = 0; k < packs<E>; ++k)
      held[k] = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
    __syncwarp();
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      Pack<Z, width<Z>> results;
#pragma unroll
      for (int w = 0; w < width<Z>; ++w) {
        constexpr int wide = width<E>;
        const int i = k * width<Z> + w;
        scan_element<whole>(held[i / wide].x[i % wide], i, results.x[w], before);
      }
      store_shared_pack(pack_address<Z>(lane_ * packs<Z> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void write_packs(Z* z) const {
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      const long long i = first_ + (k * 32 + lane_) * width<Z>;
      const Pack<Z, width<Z>> pack = load_pack<width<Z>>(pack_address<Z>(k * 32 + lane_));
      if (whole || i + width<Z> <= line_.length) {
        store_pack(z + i, pack);
      } else {
#pragma unroll
        for (int w = 0; w < width<Z>; ++w)
          if (i + w < line_.length) z[i + w] = pack.x[w];
      }
    }
  }

  // The address of pack `number`, swizzled so that 16-byte accesses of eight lanes use all banks,
  // both for neighbouring packs and for packs packs<T> apart.
  template <class T>
  __device__ __forceinline__ T* pack_address(int number) const {
    const int at = packs<T> > 1 ? number ^ (number >> 3 & 7) : number;
    return (T*)scratch_ + at * width<T>;
  }
  template <class T>
  __device__ __forceinline__ T* element_address(int number) const {
    return pack_address<T>(number / width<T>) + number % width<T>;
  }

  unsigned char* const scratch_;
  const ScanLine& line_;
  const long long first_;
  const int lane_;
  int count_;
};

template <class Body>
struct ScanItems {
  static constexpr int max_bytes = sizeof(typename Body::Element) > sizeof(typename Body::Result)
                                       ? (int)sizeof(typename Body::Element)
                                       : (int)sizeof(typename Body::Result);
  static constexpr int of_lane = scan_thread_bytes / max_bytes;
};

}  // namespace spanwise

#endif
