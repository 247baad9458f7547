// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_BLOCKS_CUH
#define SPANWISE_SCAN_BLOCKS_CUH

// For CUDA C kernels: #include <spanwise/scan_blocks.cuh>. Completes <spanwise/scan.cuh>: lines
// that are split into chunks, which blocks take in turn.

#include <spanwise/prefix_state.cuh>
#include <spanwise/scan.cuh>

namespace spanwise {

/// Bytes of dynamic shared memory of a block: three buffers.
constexpr int block_scan_bytes = 3 * scan_buffer_bytes;

/// Scans lines in chunks of `elements` elements. Each block takes chunks, in the order of their
/// numbers, until none is left. It works on three: one is fetched; the sum of the one before it is
/// published; and the one before that waits for the sums of all chunks before it, which other
/// blocks have mostly published in the meantime, and is written. A block waits only for chunks of
/// lower numbers, which running blocks have taken, so any number of blocks is correct.
///
/// locate(line, x, z) sets x and z to the addresses of the first element and result of a line.
template <class Body, bool packed, class Locate>
class BlockScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int items = ScanItems<Body>::of_lane;
  static constexpr long long elements = (long long)scan_threads * items;

  /// `words`, 0 before the kernel and aligned to 16 bytes: two, of which the first counts the
  /// chunks that are taken, then those of TilePrefixState; null if lines have one chunk. `buffers`
  /// has block_scan_bytes and is aligned to 16.
  __device__ __forceinline__ BlockScan(const Locate& locate, const ScanLine& line,
                                       unsigned int lines, unsigned int chunks,
                                       unsigned long long* words, unsigned char* buffers)
      : locate_(locate),
        line_(line),
        total_(lines * chunks),
        chunks_(chunks),
        words_(words),
        buffers_(buffers + threadIdx.x / 32 * warp_bytes) {}

  /// Called by all threads of the block.
  __device__ __forceinline__ void run() const {
    __shared__ unsigned int taken[2];
    if (threadIdx.x == 0) {
      taken[0] = words_ != nullptr ? (unsigned int)atomicAdd(words_, 2ull) : blockIdx.x;
      taken[1] = taken[0] + (words_ != nullptr ? 1 : gridDim.x);
    }
    __syncthreads();
    unsigned int current = taken[0], next = taken[1], pending = none;
    A pending_before = Body::identity();
    fetch(current, 0);
    for (int buffer = 0;; buffer = buffer == 2 ? 0 : buffer + 1) {
      unsigned int after_next = next + gridDim.x;
      if (threadIdx.x == 0 && words_ != nullptr) after_next = (unsigned int)atomicAdd(words_, 1ull);
      fetch(next, buffer == 2 ? 0 : buffer + 1);
      wait_for_fetches<1>();
      const A before = sum_chunk(current, buffer);
      if (pending != none) look_back(pending);
      if (threadIdx.x == 0) taken[0] = after_next;
      __syncthreads();
      if (pending != none) write(pending, pending_before, buffer == 0 ? 2 : buffer - 1);
      if (current >= total_) return;
      pending = current, pending_before = before;
      current = next, next = taken[0];
    }
  }

 private:
  static constexpr unsigned int none = 0xffffffffu;
  static constexpr int warps = scan_threads / 32, warp_bytes = 32 * scan_thread_bytes;
  typedef ScanPart<Body, items, packed> Part;

  // The warp's part of a chunk.
  __device__ __forceinline__ Part part_of(unsigned int number, int buffer) const {
    const long long first = number % chunks_ * elements + threadIdx.x / 32 * Part::elements;
    return Part(buffers_ + buffer * (warps * warp_bytes), line_, first);
  }
  __device__ __forceinline__ TilePrefixState<A> prefixes_of(unsigned int number) const {
    return TilePrefixState<A>(words_ + 2, number / chunks_, chunks_);
  }
  // Memory of the block for the sums that look_back() finds.
  static __device__ __forceinline__ A* levels() {
    __shared__ alignas(16) unsigned char bytes[3 * sizeof(A)];
    return (A*)bytes;
  }

  __device__ __forceinline__ void fetch(unsigned int number, int buffer) const {
    if (number >= total_) return commit_fetches();
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    Part part = part_of(number, buffer);
    if (part.is_whole())
      part.template fetch<true>(x);
    else
      part.template fetch<false>(x);
  }

  // Computes and publishes the sum of a chunk, if there is one with this number. Returns the sum of
  // the chunk's elements before the thread's.
  __device__ __forceinline__ A sum_chunk(unsigned int number, int buffer) const {
    __shared__ alignas(16) unsigned char bytes[warps * sizeof(A)];
    A* const of_warps = (A*)bytes;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A own = Body::identity(), before = own, sum = own;
    if (number < total_) {
      __syncwarp();
      const Part part = part_of(number, buffer);
      own = scan_of_lanes<Body>(part.is_whole() ? part.template total<true>()
                                                : part.template total<false>());
      if (lane == 31) of_warps[warp] = own;
    }
    __syncthreads();
    if (number >= total_) return before;
#pragma unroll
    for (int i = 0; i < warps; ++i) {
      if (i == warp) before = sum;
      sum = Body::combine(sum, of_warps[i]);
    }
    const A below = scan_from_lane(own, (lane - 1) & 31);
    if (lane > 0) before = Body::combine(before, below);
    // By a warp that has nothing to do in look_back().
    if (chunks_ > 1 && warp == warps - 1) publish(number, sum);
    return before;
  }

  // Publishes the sum of a chunk, and those of groups that the chunk completes. No waiting: they
  // consist of sums that have been published.
  __device__ __forceinline__ void publish(unsigned int number, A sum) const {
    const TilePrefixState<A> prefixes = prefixes_of(number);
    const unsigned int chunk = number % chunks_, group = chunk / 32, lane = threadIdx.x % 32;
    int completes = 0;
    if (lane == 0) {
      prefixes.publish(chunk, sum);
      completes = prefixes.completes_group(chunk);
    }
    if (__shfl_sync(0xffffffffu, completes, 0) == 0) return;
    const A of_group = scan_of_lanes<Body>(prefixes.wait_for(group * 32 + lane));
    prefixes.publish(prefixes.group_sum(group, lane), scan_from_lane(of_group, 31));
    if (lane == 0) completes = prefixes.completes_super(group);
    if (__shfl_sync(0xffffffffu, completes, 0) == 0) return;
    const A of_super =
        scan_of_lanes<Body>(prefixes.wait_for(prefixes.group_sum(group / 32 * 32 + lane, lane)));
    prefixes.publish(prefixes.super_sum(group / 32, lane), scan_from_lane(of_super, 31));
  }

  // Finds the sums of all chunks before this one: of its group, of the other groups of its 32
  // groups, and of everything before these.
  __device__ __forceinline__ void look_back(unsigned int number) const {
    if (chunks_ == 1) return;
    const TilePrefixState<A> prefixes = prefixes_of(number);
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned int chunk = number % chunks_, group = chunk / 32, reader = chunk % 32;
    const unsigned int first_group = group / 32 * 32;
    if (warp == 0) {
      const A a = sum_of(prefixes, chunk - reader, reader);
      if (lane == 31) levels()[0] = a;
    } else if (warp == 1) {
      const A a = sum_of(prefixes, prefixes.group_sum(first_group, reader), group - first_group);
      if (lane == 31) levels()[1] = a;
    } else if (warp == 2) {
      A a = Body::identity();
      const unsigned int supers = group / 32;
      for (unsigned int first = 0; first < supers; first += 32) {
        const unsigned int left = supers - first;
        const A next = sum_of(prefixes, prefixes.super_sum(first, reader), left < 32 ? left : 32);
        a = Body::combine(a, scan_from_lane(next, 31));
      }
      if (lane == 31) levels()[2] = a;
    }
  }
  // Combines `count` <= 32 sums from index `first` on; only the last lane gets the result.
  static __device__ __forceinline__ A sum_of(const TilePrefixState<A>& prefixes, unsigned int first,
                                             unsigned int count) {
    const unsigned int lane = threadIdx.x % 32;
    return scan_of_lanes<Body>(lane < count ? prefixes.wait_for(first + lane) : Body::identity());
  }

  // Writes the results of a chunk, after look_back() and a barrier.
  __device__ __forceinline__ void write(unsigned int number, A before, int buffer) const {
    if (chunks_ > 1)
      before = Body::combine(Body::combine(Body::combine(levels()[2], levels()[1]), levels()[0]),
                             before);
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    Part part = part_of(number, buffer);
    if (part.is_whole())
      part.template write<true>(z, before);
    else
      part.template write<false>(z, before);
  }

  const Locate& locate_;
  const ScanLine& line_;
  const unsigned int total_, chunks_;
  unsigned long long* const words_;
  unsigned char* const buffers_;
};

}  // namespace spanwise

#endif
