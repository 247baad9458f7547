// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_BLOCKS_CUH
#define SPANWISE_SCAN_BLOCKS_CUH

// For CUDA C kernels: #include <spanwise/scan_blocks.cuh>. Lines that are cut into chunks, a block
// for each; the rest of <spanwise/scan.cuh>.

#include <spanwise/scan.cuh>

namespace spanwise {

/// What the blocks of a line tell those after them: the sum of every chunk, of every 32 chunks and
/// of every 1024, and of all up to the end of every 32768th. Each is there as soon as it can be
/// read: each of its words of 32 bits has another beside it that says so, in 8 bytes that are
/// written at once.
template <class A>
class ScanTold {
 public:
  /// `words` are 0 before the kernel, scan_words() for each line, of which this is the `line`-th.
  __device__ __forceinline__ ScanTold(unsigned long long* words, long long line, long long chunks)
      : chunks_(chunks),
        supers_(chunks + (chunks + 31) / 32),
        tops_(supers_ + (chunks + 1023) / 1024),
        words_(words + line * (tops_ + (chunks + 32767) / 32768) * count) {}

  __device__ __forceinline__ long long chunks() const { return chunks_; }
  // Where the sums of each 32 chunks begin, and so on.
  __device__ __forceinline__ long long groups() const { return chunks_; }
  __device__ __forceinline__ long long supers() const { return supers_; }
  __device__ __forceinline__ long long tops() const { return tops_; }

  __device__ __forceinline__ void tell(long long place, A a) const {
    unsigned int parts[count];
    memcpy(parts, &a, sizeof(A));
    volatile unsigned long long* at = words_ + place * count;
#pragma unroll
    for (int i = 0; i < count; ++i) at[i] = (unsigned long long)parts[i] << 32 | 1;
  }
  /// Waits for it.
  __device__ __forceinline__ A hear(long long place) const {
    const volatile unsigned long long* at = words_ + place * count;
    unsigned long long words[count];
    unsigned int there;
    do {
      there = 1;
#pragma unroll
      for (int i = 0; i < count; ++i) words[i] = at[i];
#pragma unroll
      for (int i = 0; i < count; ++i) there &= (unsigned int)words[i];
    } while (there == 0);
    unsigned int parts[count];
#pragma unroll
    for (int i = 0; i < count; ++i) parts[i] = (unsigned int)(words[i] >> 32);
    A a;
    memcpy(&a, parts, sizeof(A));
    return a;
  }

 private:
  static constexpr int count = sizeof(A) / 4;
  const long long chunks_, supers_, tops_;
  unsigned long long* const words_;
};

/// The number of the calling block: as many blocks have begun before it. A block that waits only
/// for lower numbers waits for blocks that have begun. `begun` is 0 before the kernel; null where
/// nobody waits. All of the block call it.
__device__ __forceinline__ long long scan_block_number(unsigned long long* begun) {
  if (begun == nullptr) return blockIdx.x;
  __shared__ unsigned long long number;
  if (threadIdx.x == 0) number = atomicAdd(begun, 1ull);
  __syncthreads();
  return number;
}

/// A chunk of a line, by the block that calls it.
template <class Body, bool packed>
class BlockScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int items = ScanItems<Body>::of_lane;
  static constexpr long long elements = (long long)scan_threads * items;

  __device__ __forceinline__ BlockScan(const E* x, Z* z, const ScanLine& line,
                                       const ScanTold<A>& told, long long chunk)
      : x_(x), z_(z), line_(line), told_(told), chunk_(chunk) {}

  /// `tile` is the block's, of scan_tile_bytes, aligned to 16.
  __device__ __forceinline__ void run(unsigned char* tile) const {
    if ((chunk_ + 1) * elements <= line_.length)
      run_as<true>(tile);
    else
      run_as<false>(tile);
  }

 private:
  template <bool whole>
  __device__ __forceinline__ void run_as(unsigned char* tile) const {
    const int warp = threadIdx.x / 32;
    ScanPart<Body, items, packed> part(tile + warp * (32 * scan_tile_bytes / scan_threads), line_,
                                       chunk_ * elements + warp * (32 * items));
    part.template read<whole>(x_);
    const A own = scan_of_lanes<Body>(part.template total<whole>());
    __shared__ alignas(16) unsigned char of_warps[scan_threads / 32 * sizeof(A)];
    if (threadIdx.x % 32 == 31) ((A*)of_warps)[warp] = own;
    __syncthreads();
    A all = Body::identity(), before = all;
#pragma unroll
    for (int i = 0; i < scan_threads / 32; ++i) {
      if (i == warp) before = all;
      all = Body::combine(all, ((const A*)of_warps)[i]);
    }
    if (told_.chunks() > 1) before = Body::combine(before_chunk(all), before);
    const A below = scan_from_lane(own, (threadIdx.x - 1) & 31);
    part.template write<whole>(z_, threadIdx.x % 32 > 0 ? Body::combine(before, below) : before);
  }

  // What the line has before this chunk, whose sum is `own`.
  __device__ __forceinline__ A before_chunk(A own) const {
    __shared__ alignas(16) unsigned char room[4 * sizeof(A)];
    A* const levels = (A*)room;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long group = chunk_ / 32, super = group / 32, top = super / 32;
    if (warp == 0) {
      if (lane == 0) told_.tell(chunk_, own);
      const A a = sum_of(group * 32, chunk_ % 32);
      if (lane == 31) {
        levels[0] = a;
        if (chunk_ % 32 == 31) told_.tell(told_.groups() + group, Body::combine(a, own));
      }
    } else if (warp == 1) {
      const A a = sum_of(told_.groups() + super * 32, group % 32);
      if (lane == 31) levels[1] = a;
    } else if (warp == 2) {
      const A a = sum_of(told_.supers() + top * 32, super % 32);
      if (lane == 31) levels[2] = a;
    } else if (warp == 3 && lane == 0) {
      levels[3] = top > 0 ? told_.hear(told_.tops() + top - 1) : Body::identity();
    }
    __syncthreads();
    const A in_super = Body::combine(levels[1], levels[0]);
    const A before = Body::combine(Body::combine(levels[3], levels[2]), in_super);
    if (threadIdx.x == 0 && chunk_ % 1024 == 1023)
      told_.tell(told_.supers() + super, Body::combine(in_super, own));
    if (threadIdx.x == 0 && chunk_ % 32768 == 32767)
      told_.tell(told_.tops() + top, Body::combine(before, own));
    return before;
  }
  // Of so many places from `first` on, fewer than 32; the last lane gets it.
  __device__ __forceinline__ A sum_of(long long first, long long count) const {
    const int lane = threadIdx.x % 32;
    return scan_of_lanes<Body>(lane < count ? told_.hear(first + lane) : Body::identity());
  }

  const E* const x_;
  Z* const z_;
  const ScanLine& line_;
  const ScanTold<A>& told_;
  const long long chunk_;
};

}  // namespace spanwise

#endif
