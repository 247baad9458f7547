// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_BLOCKS_CUH
#define SPANWISE_SCAN_BLOCKS_CUH

// For CUDA C kernels: #include <spanwise/scan_blocks.cuh>. Completes <spanwise/scan.cuh>: lines
// that are split into chunks, one block for each.

#include <spanwise/scan.cuh>

namespace spanwise {

/// The sums that the blocks of a line pass to later blocks: the sum of each chunk, of each group of
/// 32 chunks, and of everything before each 32nd group. Each 32-bit word of a sum is stored
/// together with a ready flag in one 8-byte access, so a reader sees when it is complete. Sums for
/// other groups are stored 32 times, once for the blocks of each position within a group: many
/// readers of one address would delay its write.
template <class A>
class TilePrefixState {
  static_assert(sizeof(A) % 8 == 0, "the size of the accumulator must be a multiple of 8 bytes");

 public:
  /// `words` are 0 before the kernel and aligned to 16 bytes; each line has scan_words() of them,
  /// and this object uses those of line `line`.
  __device__ __forceinline__ TilePrefixState(unsigned long long* words, unsigned int line,
                                             unsigned int chunks)
      : chunks_(chunks),
        groups_(chunks > 32 ? (chunks + 31) / 32 : 0),
        words_(words + (long long)line * places() * count) {}

  __device__ __forceinline__ unsigned int chunks() const { return chunks_; }
  // Indices of the group sums and of the sums before groups, for the blocks at position `reader` of
  // a group.
  __device__ __forceinline__ unsigned int group_sum(unsigned int group, unsigned int reader) const {
    return chunks_ + reader * groups_ + group;
  }
  __device__ __forceinline__ unsigned int before_group(unsigned int group,
                                                       unsigned int reader) const {
    return chunks_ + 32 * groups_ + reader * ((groups_ + 31) / 32) + group / 32;
  }

  /// Writes the sum at index `place`, which wait_for() returns in other blocks.
  __device__ __forceinline__ void publish(unsigned int place, A a) const {
    unsigned int parts[count];
    memcpy(parts, &a, sizeof(A));
    unsigned long long* const at = words_ + (long long)place * count;
#pragma unroll
    for (int i = 0; i < count; i += 2)
      put_two(at + i, (unsigned long long)parts[i] << 32 | 1,
              (unsigned long long)parts[i + 1] << 32 | 1);
  }
  /// Waits until the sum is written and returns it.
  __device__ __forceinline__ A wait_for(unsigned int place) const {
    const unsigned long long* const at = words_ + (long long)place * count;
    unsigned long long words[count];
    unsigned int ready;
    do {
      ready = 1;
#pragma unroll
      for (int i = 0; i < count; i += 2) get_two(at + i, words[i], words[i + 1]);
#pragma unroll
      for (int i = 0; i < count; ++i) ready &= (unsigned int)words[i];
    } while (ready == 0);
    unsigned int parts[count];
#pragma unroll
    for (int i = 0; i < count; ++i) parts[i] = (unsigned int)(words[i] >> 32);
    A a;
    memcpy(&a, parts, sizeof(A));
    return a;
  }

 private:
  static constexpr int count = sizeof(A) / 4;

  __device__ __forceinline__ unsigned int places() const {
    return chunks_ + 32 * groups_ + 32 * ((groups_ + 31) / 32);
  }

  // Two words in one access; the compiler would split volatile accesses.
  static __device__ __forceinline__ void put_two(unsigned long long* at, unsigned long long x,
                                                 unsigned long long y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(x), "l"(y) : "memory");
#else
    *(volatile unsigned long long*)at = x;
    *(volatile unsigned long long*)(at + 1) = y;
#endif
  }
  static __device__ __forceinline__ void get_two(const unsigned long long* at,
                                                 unsigned long long& x, unsigned long long& y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(at)
                 : "memory");
#else
    x = *(const volatile unsigned long long*)at;
    y = *(const volatile unsigned long long*)(at + 1);
#endif
  }

  const unsigned int chunks_, groups_;
  unsigned long long* const words_;
};

/// The number of the calling block in the order in which blocks start. A block that waits only for
/// lower numbers waits for blocks that are already running. `begun` is 0 before the kernel; null if
/// no block waits. All threads of the block call it.
__device__ __forceinline__ unsigned int scan_block_number(unsigned long long* begun) {
  if (begun == nullptr) return blockIdx.x;
  __shared__ unsigned int number;
  if (threadIdx.x == 0) number = (unsigned int)atomicAdd(begun, 1ull);
  __syncthreads();
  return number;
}

/// Scans a chunk of a line with the calling block.
template <class Body, bool packed>
class BlockScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int items = ScanItems<Body>::of_lane;
  static constexpr long long elements = (long long)scan_threads * items;

  __device__ __forceinline__ BlockScan(const E* x, Z* z, const ScanLine& line,
                                       const TilePrefixState<A>& prefixes, unsigned int chunk)
      : x_(x), z_(z), line_(line), prefixes_(prefixes), chunk_(chunk) {}

  /// `tile` is the block's, of scan_tile_bytes, aligned to 16.
  __device__ __forceinline__ void run(unsigned char* tile) const {
    if ((chunk_ + 1ll) * elements <= line_.length)
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
    if (prefixes_.chunks() > 1) before = Body::combine(before_chunk(all), before);
    const A below = scan_from_lane(own, (threadIdx.x - 1) & 31);
    part.template write<whole>(z_, threadIdx.x % 32 > 0 ? Body::combine(before, below) : before);
  }

  // The sum of everything before this chunk, whose own sum is `own`.
  __device__ __forceinline__ A before_chunk(A own) const {
    __shared__ alignas(16) unsigned char scratch[3 * sizeof(A)];
    A* const levels = (A*)scratch;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned int group = chunk_ / 32, reader = chunk_ % 32, first_group = group / 32 * 32;
    if (warp == 0) {
      if (lane == 0) prefixes_.publish(chunk_, own);
      const A a = sum_of(chunk_ - reader, reader);
      if (lane == 31) levels[0] = a;
      if (reader == 31 && chunk_ + 1 < prefixes_.chunks())
        prefixes_.publish(prefixes_.group_sum(group, lane),
                          Body::combine(scan_from_lane(a, 31), own));
    } else if (warp == 1) {
      const A a = sum_of(prefixes_.group_sum(first_group, reader), group - first_group);
      if (lane == 31) levels[1] = a;
    } else if (warp == 2) {
      const A a = first_group > 0 ? prefixes_.wait_for(prefixes_.before_group(first_group, reader))
                                  : Body::identity();
      if (lane == 0) levels[2] = a;
    }
    __syncthreads();
    const A before = Body::combine(Body::combine(levels[2], levels[1]), levels[0]);
    // The last chunk of 32 groups publishes the sum for the next 32.
    if (warp == 0 && chunk_ % 1024 == 1023 && chunk_ + 1 < prefixes_.chunks())
      prefixes_.publish(prefixes_.before_group(group + 1, lane), Body::combine(before, own));
    return before;
  }
  // Combines `count` < 32 sums from index `first` on; only the last lane gets the result.
  __device__ __forceinline__ A sum_of(unsigned int first, unsigned int count) const {
    const unsigned int lane = threadIdx.x % 32;
    return scan_of_lanes<Body>(lane < count ? prefixes_.wait_for(first + lane) : Body::identity());
  }

  const E* const x_;
  Z* const z_;
  const ScanLine& line_;
  const TilePrefixState<A>& prefixes_;
  const unsigned int chunk_;
};

}  // namespace spanwise

#endif
