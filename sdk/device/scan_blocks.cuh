// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_BLOCKS_CUH
#define SPANWISE_SCAN_BLOCKS_CUH

// For CUDA C kernels: #include <spanwise/scan_blocks.cuh>. Completes <spanwise/scan.cuh>: lines
// that are split into chunks, which blocks take in turn.

#include <spanwise/chunk_sums.cuh>
#include <spanwise/scan.cuh>

namespace spanwise {

/// Threads per block, and the bytes of dynamic shared memory of a block: three buffers.
constexpr int block_scan_threads = 256;
constexpr int block_scan_bytes = 3 * block_scan_threads * scan_thread_bytes;

/// Scans lines in chunks of `elements` elements. Each block takes chunks, in the order of their
/// numbers, until none is left. It works on three: one is fetched; the sum of the one before it is
/// published; and the one before that waits for the sums of all chunks before it, which other
/// blocks have mostly published in the meantime, and is written. A block waits only for chunks of
/// lower numbers, which running blocks have taken, so any number of blocks is correct.
///
/// Each block adds the sums of all chunks itself, those since its last chunk at a time: about as
/// many as there are blocks. No published sum depends on another one, so that none is waited for
/// twice. Sums are added in groups of 32 and the groups in turn, whichever block adds them.
///
/// locate(line, x, z) sets x and z to the addresses of the first element and result of a line.
template <class Body, bool packed, class Locate>
class BlockScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int items = ScanItems<Body>::of_lane;
  static constexpr long long elements = (long long)block_scan_threads * items;

  /// `words`, 0 before the kernel and aligned to 16 bytes: two, of which the first counts the
  /// chunks that are taken, then those of ChunkSums; null if lines have one chunk. `buffers`
  /// has block_scan_bytes and is aligned to 16.
  __device__ __forceinline__ BlockScan(const Locate& locate, const ScanLine& line,
                                       unsigned int lines, unsigned int chunks,
                                       unsigned long long* words, unsigned char* buffers)
      : locate_(locate),
        line_(line),
        total_(lines * chunks),
        chunks_(chunks),
        words_(words),
        buffers_(buffers + threadIdx.x / 32 * warp_bytes),
        known_(Body::identity()) {}

  /// Called by all threads of the block.
  __device__ __forceinline__ void run() {
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
      if (threadIdx.x == 0) taken[0] = after_next;
      if (pending != none)
        write(pending, Body::combine(look_back(pending), pending_before),
              buffer == 0 ? 2 : buffer - 1);
      else
        __syncthreads();
      if (current >= total_) return;
      pending = current, pending_before = before;
      current = next, next = taken[0];
    }
  }

 private:
  static constexpr unsigned int none = 0xffffffffu;
  static constexpr int warps = block_scan_threads / 32, warp_bytes = 32 * scan_thread_bytes;
  typedef ScanPart<Body, items, packed> Part;

  // The warp's part of a chunk.
  __device__ __forceinline__ Part part_of(unsigned int number, int buffer) const {
    const long long first = number % chunks_ * elements + threadIdx.x / 32 * Part::elements;
    return Part(buffers_ + buffer * (warps * warp_bytes), line_, first);
  }
  // Memory of the block for the sums of 32 groups.
  static __device__ __forceinline__ A* groups() {
    __shared__ alignas(16) unsigned char bytes[32 * sizeof(A)];
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
    if (chunks_ > 1 && threadIdx.x == 0) ChunkSums<A>(words_ + 2).publish(number, sum);
    const A below = scan_from_lane(own, (lane - 1) & 31);
    if (lane > 0) before = Body::combine(before, below);
    return before;
  }

  // The sum of all chunks of the line before this one. All threads of the block call it; it has a
  // barrier.
  __device__ __forceinline__ A look_back(unsigned int number) {
    const unsigned int line = number / chunks_, chunk = number % chunks_, group = chunk / 32;
    if (line != known_line_) known_line_ = line, known_groups_ = 0, known_ = Body::identity();
    A all = known_;
    for (bool is_last = false; !is_last;) {
      const unsigned int left = group + 1 - known_groups_, count = left < 32 ? left : 32;
      is_last = left <= 32;
      sum_groups(number - chunk, chunk, count);
      __syncthreads();
      for (unsigned int i = 0; i < count; ++i) {
        all = Body::combine(known_, groups()[i]);
        if (known_groups_ < group) known_ = all, ++known_groups_;
      }
      if (!is_last) __syncthreads();
    }
    return all;
  }
  // Sums `count` groups from group known_groups_ on, of the chunks below `end` of the line that
  // begins with chunk `first` of all.
  __device__ __forceinline__ void sum_groups(unsigned int first, unsigned int end,
                                             unsigned int count) const {
    constexpr int together = 2;
    const ChunkSums<A> sums(words_ + 2);
    const unsigned int lane = threadIdx.x % 32;
    for (unsigned int i = threadIdx.x / 32; i < count; i += warps * together) {
      typename ChunkSums<A>::Words loaded[together];
#pragma unroll
      for (int k = 0; k < together; ++k) {
        const unsigned int chunk = (known_groups_ + i + k * warps) * 32 + lane;
        if (i + k * warps < count && chunk < end) sums.load(first + chunk, loaded[k]);
      }
#pragma unroll
      for (int k = 0; k < together; ++k) {
        const unsigned int chunk = (known_groups_ + i + k * warps) * 32 + lane;
        if (i + k * warps >= count) break;
        const A own = chunk < end ? sums.wait_for(first + chunk, loaded[k]) : Body::identity();
        const A sum = scan_of_lanes<Body>(own);
        if (lane == 31) groups()[i + k * warps] = sum;
      }
    }
  }

  // Writes the results of a chunk; `before` combines all elements before the thread's.
  __device__ __forceinline__ void write(unsigned int number, A before, int buffer) const {
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
  // The sum of the first `known_groups_` groups of chunks of a line.
  unsigned int known_line_ = none, known_groups_ = 0;
  A known_;
};

}  // namespace spanwise

#endif
