// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_BLOCKS_CUH
#define SPANWISE_SCAN_BLOCKS_CUH

// For CUDA C kernels: #include <spanwise/scan_blocks.cuh>. Completes <spanwise/scan.cuh>: lines
// that are split into chunks, which blocks take in turn.

#include <spanwise/prefix_state.cuh>
#include <spanwise/scan.cuh>

namespace spanwise {

/// Threads per block: those of scan_threads, which read and write elements, and a warp that passes
/// sums to other blocks and waits for theirs.
constexpr int block_scan_threads = scan_threads + 32;
/// Bytes of dynamic shared memory of a block: three buffers.
constexpr int block_scan_bytes = 3 * scan_buffer_bytes;

/// Scans lines in chunks of `elements` elements. Each block takes chunks, in the order of their
/// numbers, until none is left. It works on three: one is fetched; the sum of the one before it is
/// published; and the one before that is written. Meanwhile the last warp waits for the sums of all
/// chunks before the second, which other blocks publish in the meantime. A block waits only for
/// chunks of lower numbers, which running blocks have taken, so any number of blocks is correct.
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
    // What the warps exchange in one turn; two, since warps may be in adjacent turns.
    __shared__ unsigned int taken[2];
    __shared__ alignas(16) unsigned char bytes[2][(warps + 1) * sizeof(A)];
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
      taken[0] = words_ != nullptr ? (unsigned int)atomicAdd(words_, 2ull) : blockIdx.x;
      taken[1] = taken[0] + (words_ != nullptr ? 1 : gridDim.x);
    }
    __syncthreads();
    unsigned int current = taken[0], next = taken[1], pending = none;
    __syncthreads();
    A pending_before = Body::identity();
    if (warp < warps) fetch(current, 0);
    for (int buffer = 0, turn = 0;; buffer = after(buffer), turn ^= 1) {
      A* const sums = (A*)bytes[turn];
      A own = Body::identity();
      if (warp == warps) {
        unsigned int after_next = next + gridDim.x;
        if (lane == 0 && words_ != nullptr) after_next = (unsigned int)atomicAdd(words_, 1ull);
        const A before = pending != none && chunks_ > 1 ? look_back(pending) : own;
        if (lane == 31) sums[warps] = before;
        if (lane == 0) taken[turn] = after_next;
      } else {
        fetch(next, after(buffer));
        wait_for_fetches<1>();
        if (current < total_) own = sum_part(current, buffer);
        if (lane == 31) sums[warp] = own;
      }
      __syncthreads();
      if (warp < warps && pending != none)
        write(pending, Body::combine(sums[warps], pending_before), after(after(buffer)));
      if (current >= total_) return;
      A before = Body::identity(), sum = before;
#pragma unroll
      for (int i = 0; i < warps; ++i) {
        if (i == warp) before = sum;
        sum = Body::combine(sum, sums[i]);
      }
      if (warp == warps && chunks_ > 1) publish(current, sum);
      const A below = scan_from_lane(own, (lane - 1) & 31);
      pending_before = lane > 0 ? Body::combine(before, below) : before;
      pending = current, current = next, next = taken[turn];
    }
  }

 private:
  static constexpr unsigned int none = 0xffffffffu;
  static constexpr int warps = scan_threads / 32, warp_bytes = 32 * scan_thread_bytes;
  typedef ScanPart<Body, items, packed> Part;

  static __device__ __forceinline__ int after(int buffer) { return buffer == 2 ? 0 : buffer + 1; }

  // The warp's part of a chunk.
  __device__ __forceinline__ Part part_of(unsigned int number, int buffer) const {
    const long long first = number % chunks_ * elements + threadIdx.x / 32 * Part::elements;
    return Part(buffers_ + buffer * (warps * warp_bytes), line_, first);
  }
  __device__ __forceinline__ TilePrefixState<A> prefixes_of(unsigned int number) const {
    return TilePrefixState<A>(words_ + 2, number / chunks_, chunks_);
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

  // For each lane, the sum of the elements of the warp's part up to the lane's.
  __device__ __forceinline__ A sum_part(unsigned int number, int buffer) const {
    __syncwarp();
    const Part part = part_of(number, buffer);
    return scan_of_lanes<Body>(part.is_whole() ? part.template total<true>()
                                               : part.template total<false>());
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

  // The sum of all chunks before this one: of its group, of the other groups of its 32 groups, and
  // of everything before these. Only the last lane gets the result.
  __device__ __forceinline__ A look_back(unsigned int number) const {
    const TilePrefixState<A> prefixes = prefixes_of(number);
    const unsigned int lane = threadIdx.x % 32, chunk = number % chunks_, group = chunk / 32;
    const unsigned int reader = chunk % 32, supers = group / 32, groups = group % 32;
    const unsigned int places[] = {prefixes.super_sum(lane, reader),
                                   prefixes.group_sum(supers * 32 + lane, reader),
                                   chunk - reader + lane};
    const unsigned int counts[] = {supers < 32 ? supers : 32, groups, reader};
    typename TilePrefixState<A>::Words loaded[3];
#pragma unroll
    for (int level = 0; level < 3; ++level)
      if (lane < counts[level]) prefixes.load(places[level], loaded[level]);
    A all = Body::identity();
#pragma unroll
    for (int level = 0; level < 3; ++level) {
      const A own =
          lane < counts[level] ? prefixes.wait_for(places[level], loaded[level]) : Body::identity();
      all = Body::combine(all, scan_of_lanes<Body>(own));
      if (level > 0) continue;
      for (unsigned int first = 32; first < supers; first += 32)
        all = Body::combine(
            all, scan_of_lanes<Body>(first + lane < supers ? prefixes.wait_for(prefixes.super_sum(
                                                                 first + lane, reader))
                                                           : Body::identity()));
    }
    return all;
  }

  // Writes the results of the warp's part; `before` combines all elements before the thread's.
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
};

}  // namespace spanwise

#endif
