// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_PIPELINE_CUH
#define SPANWISE_SCAN_PIPELINE_CUH

// For CUDA C kernels: #include <spanwise/scan_pipeline.cuh>. Scans of long contiguous lines, for
// devices of compute capability 9.0 or higher; <spanwise/scan.cuh> is for all others.

#include <spanwise/bulk_copy.cuh>
#include <spanwise/scan.cuh>

namespace spanwise {

/// Warps that sum and write, and warps that find the sums of the chunks before; two more warps
/// fetch and publish.
constexpr int pipeline_warps = 12, pipeline_finders = 2;
constexpr int pipeline_threads = 32 * (pipeline_warps + pipeline_finders + 2);
/// Chunks in shared memory, and how many chunks are summed before the first is written. Chosen on
/// an H200: a smaller lag waits for the sums of other blocks, a larger one for the memory.
constexpr int pipeline_stages = 12, pipeline_lag = 8;
/// Packs of 16 bytes of each lane in a chunk: an odd number, so that their accesses use all banks.
constexpr int pipeline_packs = 3;
constexpr int pipeline_chunk_bytes = pipeline_warps * 32 * pipeline_packs * 16;

/// Called by a warp: sums[k] is the sum of group k of 32 chunks from chunk `first` on, of those
/// that precede chunk `end`. Waits until they are published; reads all groups before it waits for
/// one, so that the latencies overlap.
template <class Body, int groups>
__device__ __forceinline__ void sum_groups(const TilePrefixState<typename Body::Acc>& prefixes,
                                           unsigned int first, unsigned int end,
                                           typename Body::Acc (&sums)[groups]) {
  const unsigned int chunk = first + threadIdx.x % 32;
  bool is_ready[groups], are_all_ready;
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    sums[k] = Body::identity();
    is_ready[k] = chunk + k * 32 >= end;
  }
  do {
    are_all_ready = true;
#pragma unroll
    for (int k = 0; k < groups; ++k)
      if (!is_ready[k]) is_ready[k] = prefixes.get(chunk + k * 32, sums[k]);
#pragma unroll
    for (int k = 0; k < groups; ++k) are_all_ready &= is_ready[k];
  } while (!are_all_ready);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < groups; ++k) sums[k] = scan_from_lane(scan_of_lanes<Body>(sums[k]), 31);
}

/// Scans lines in chunks, which blocks take in the order of their numbers; one block runs on each
/// multiprocessor. Each role has its own warps, which wait for one another only through the stages:
/// chunks are fetched, summed and published ahead of the one that is written, so that the sums
/// before it have mostly been published when they are needed. A block waits only for chunks of
/// lower numbers, which running blocks have taken, so any number of blocks is correct. The order of
/// additions depends only on the position in the line.
///
/// Elements and results are of one size, 4 or 8 bytes. Accumulators may have any multiple of 8
/// bytes, but with 16 bytes BlockScan is faster (H100). Lines are contiguous and begin at a
/// multiple of 16 bytes in both arrays. locate(line, x, z) as for BlockScan.
template <class Body, class Locate>
class PipelinedScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static_assert(sizeof(E) == sizeof(Z), "results replace their elements");

  /// Shared by the block; not initialized by a constructor.
  struct State {
    // Of a stage: the chunk is fetched; summed; the sum before it is known; the stage is free.
    PhaseBarrier full[pipeline_stages], summed[pipeline_stages], prefixed[pipeline_stages],
        empty[pipeline_stages];
    unsigned int chunks[pipeline_stages], previous[pipeline_stages];
    /// Of each warp's part: its sum, and the sum of everything before it in the line.
    A sums[pipeline_stages][pipeline_warps], before[pipeline_stages][pipeline_warps];
    A before_group[pipeline_stages];
  };

  /// `words`, 0 before the kernel and aligned to 16 bytes: two, of which the first counts the
  /// chunks that are taken, then those of TilePrefixState for all chunks of all lines. `buffers`
  /// has pipeline_stages * pipeline_chunk_bytes and is aligned to 16.
  __device__ __forceinline__ PipelinedScan(const Locate& locate, long long length,
                                           unsigned int lines, unsigned int chunks,
                                           unsigned long long* words, unsigned char* buffers,
                                           State& state)
      : locate_(locate),
        length_(length),
        total_(lines * chunks),
        chunks_(chunks),
        words_(words),
        buffers_(buffers),
        state_(state) {}

  /// Called by all threads of the block.
  __device__ __forceinline__ void run() const {
    if (threadIdx.x == 0) {
      for (int i = 0; i < stages; ++i) {
        state_.full[i].init(1);
        state_.summed[i].init(warps);
        state_.prefixed[i].init(1);
        state_.empty[i].init(warps + 1);
      }
      PhaseBarrier::fence();
    }
    __syncthreads();
    const int warp = threadIdx.x / 32;
    if (warp < warps)
      sum_and_write(warp);
    else if (warp == warps)
      fetch();
    else if (warp == warps + 1)
      publish();
    else
      find(warp - warps - 2);
  }

 private:
  static constexpr unsigned int none = 0xffffffffu;
  static constexpr int warps = pipeline_warps, stages = pipeline_stages, lag = pipeline_lag;
  static constexpr int packs = pipeline_packs, width = 16 / (int)sizeof(E);
  static constexpr int part = 32 * packs * width, chunk = warps * part;
  static constexpr int groups = 6;  // of 32 sums each, which a warp reads at a time

  typedef RingStage<stages> Stage;

  __device__ __forceinline__ E* elements(int stage) const {
    return (E*)(buffers_ + stage * pipeline_chunk_bytes);
  }
  __device__ __forceinline__ TilePrefixState<A> prefixes() const {
    return TilePrefixState<A>(words_ + 2, 0, total_);
  }
  // Elements of the chunk, or of the part of it from `first` on, that exist.
  __device__ __forceinline__ int count(unsigned int number, int first, int limit) const {
    const long long left = length_ - (long long)(number % chunks_) * chunk - first;
    return left < 0 ? 0 : left < limit ? (int)left : limit;
  }

  // Runs on one lane. After the last chunk, one stage for each finder has the number `none`, which
  // ends the loops of the other warps.
  __device__ __forceinline__ void fetch() const {
    if (threadIdx.x % 32 != 0) return;
    const auto take = [&] { return (unsigned int)atomicAdd(words_, 1ull); };
    unsigned int number = take(), previous = none;
    Stage stage;
    for (int step = 0, ends = 0; ends < pipeline_finders; ++step, stage.advance()) {
      const unsigned int next = number < total_ ? take() : number;
      if (step >= stages) state_.empty[stage.index].wait(stage.phase ^ 1);
      state_.chunks[stage.index] = number < total_ ? number : none;
      state_.previous[stage.index] = previous;
      if (number < total_)
        fetch_chunk(number, stage.index);
      else
        state_.full[stage.index].arrive(), ++ends;
      previous = number, number = next;
    }
  }
  __device__ __forceinline__ void fetch_chunk(unsigned int number, int stage) const {
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    x += (long long)(number % chunks_) * chunk;
    const int available = count(number, 0, chunk), bulk = available / width * width;
    for (int i = bulk; i < available; ++i) elements(stage)[i] = x[i];
    state_.full[stage].arrive_and_expect(bulk * (int)sizeof(E));
    if (bulk > 0) bulk_fetch(elements(stage), x, bulk * (int)sizeof(E), state_.full[stage]);
  }

  __device__ __forceinline__ void sum_and_write(int warp) const {
    A before[lag + 1];
    unsigned int numbers[lag + 1];
#pragma unroll
    for (int k = 0; k <= lag; ++k) before[k] = Body::identity(), numbers[k] = none;
    Stage summing, writing;
    int stored = -1;
    for (int step = 0, ends = 0;; ++step) {
#pragma unroll
      for (int k = lag; k > 0; --k) before[k] = before[k - 1], numbers[k] = numbers[k - 1];
      numbers[0] = none;
      if (ends < pipeline_finders) {
        state_.full[summing.index].wait(summing.phase);
        numbers[0] = state_.chunks[summing.index];
        if (numbers[0] == none)
          ++ends;
        else
          before[0] = sum_part(summing.index, warp);
        __syncwarp();
        if (threadIdx.x % 32 == 0) state_.summed[summing.index].arrive();
        summing.advance();
      }
      if (step < lag) continue;
      if (numbers[lag] == none) break;
      state_.prefixed[writing.index].wait(writing.phase);
      write_part(numbers[lag], writing.index, warp, before[lag]);
      if (threadIdx.x % 32 == 0) {
        wait_for_bulk_reads<1>();
        if (stored >= 0) state_.empty[stored].arrive();
      }
      stored = writing.index;
      writing.advance();
    }
    if (threadIdx.x % 32 == 0) wait_for_bulk_reads<0>();
  }
  // Stores the sum of the warp's part. Returns the sum of its elements before the lane's. Elements
  // behind the end of the line are undefined: only sums behind it contain them.
  __device__ __forceinline__ A sum_part(int stage, int warp) const {
    const int lane = threadIdx.x % 32;
    const E* const own = elements(stage) + warp * part + lane * packs * width;
    A sum = Body::identity();
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const Pack<E, width> pack = load_pack<width>(own + k * width);
      // Combines pairs first: a single chain of additions would serialize them.
      A of_pack = Body::combine(Body::transform(pack.x[0]), Body::transform(pack.x[1]));
      if (width == 4)
        of_pack = Body::combine(of_pack, Body::combine(Body::transform(pack.x[width - 2]),
                                                       Body::transform(pack.x[width - 1])));
      sum = k == 0 ? of_pack : Body::combine(sum, of_pack);
    }
    sum = scan_of_lanes<Body>(sum);
    if (lane == 31) state_.sums[stage][warp] = sum;
    const A below = scan_from_lane(sum, (lane - 1) & 31);
    return lane == 0 ? Body::identity() : below;
  }
  __device__ __forceinline__ void write_part(unsigned int number, int stage, int warp,
                                             A before_lane) const {
    const int lane = threadIdx.x % 32;
    E* const begin = elements(stage) + warp * part;
    A before = Body::combine(state_.before[stage][warp], before_lane);
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      E* const own = begin + (lane * packs + k) * width;
      const Pack<E, width> pack = load_pack<width>(own);
      Pack<Z, width> results;
#pragma unroll
      for (int w = 0; w < width; ++w) {
        const A through = Body::combine(before, Body::transform(pack.x[w]));
        results.x[w] = Body::result(before, through);
        before = through;
      }
      store_shared_pack((Z*)own, results);
    }
    fence_bulk_store();
    __syncwarp();
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    z += (long long)(number % chunks_) * chunk + warp * part;
    const int available = count(number, warp * part, part), bulk = available / width * width;
    if (lane == 0) bulk_store(z, begin, bulk * (int)sizeof(Z));
    for (int i = bulk + lane; i < available; i += 32) z[i] = ((Z*)begin)[i];
  }

  __device__ __forceinline__ void publish() const {
    const int lane = threadIdx.x % 32;
    for (Stage stage;; stage.advance()) {
      state_.summed[stage.index].wait(stage.phase);
      const unsigned int number = state_.chunks[stage.index];
      if (number == none) return;
      const A sum =
          scan_of_lanes<Body>(lane < warps ? state_.sums[stage.index][lane] : Body::identity());
      if (lane == 31) prefixes().publish(number, sum);
      __syncwarp();
      if (lane == 0) state_.empty[stage.index].arrive();
    }
  }

  // Adds what precedes every pipeline_finders-th chunk in its line: the sums of the groups of 32
  // chunks, one after the other, and the chunks of its own group. Begins with the sum before the
  // group of the block's previous chunk, which before_previous() returns, if that is in this line.
  __device__ __forceinline__ void find(int finder) const {
    const int lane = threadIdx.x % 32;
    Stage stage;
    for (stage.advance(finder);; stage.advance(pipeline_finders)) {
      state_.summed[stage.index].wait(stage.phase);
      const unsigned int number = state_.chunks[stage.index];
      if (number == none) return;
      const unsigned int line = number - number % chunks_;
      const unsigned int previous = state_.previous[stage.index];
      const bool continues = previous != none && previous >= line;
      unsigned int first = continues ? line + (previous - line) / 32 * 32 : line;
      A before = Body::identity(), in_group = before;
      for (bool is_known = !continues, is_last = false; !is_last;) {
        A sums[groups];
        sum_groups<Body>(prefixes(), first, number, sums);
        if (!is_known) before = before_previous(stage);
        is_known = true;
        in_group = Body::identity();
#pragma unroll
        for (int k = 0; k < groups; ++k) {
          if (first + 32 <= number)
            before = Body::combine(before, sums[k]), first += 32;
          else if (!is_last)
            in_group = sums[k], is_last = true;
        }
      }
      store_before(stage.index, before, in_group);
      __syncwarp();
      if (lane == 0) state_.prefixed[stage.index].arrive();
    }
  }
  __device__ __forceinline__ A before_previous(Stage stage) const {
    const int index = stage.index == 0 ? stages - 1 : stage.index - 1;
    state_.prefixed[index].wait(stage.index == 0 ? stage.phase ^ 1 : stage.phase);
    return state_.before_group[index];
  }
  __device__ __forceinline__ void store_before(int stage, A before, A in_group) const {
    const int lane = threadIdx.x % 32;
    const A all = Body::combine(before, in_group);
    const A sum = scan_of_lanes<Body>(lane < warps ? state_.sums[stage][lane] : Body::identity());
    const A below = scan_from_lane(sum, (lane - 1) & 31);
    if (lane < warps) state_.before[stage][lane] = lane == 0 ? all : Body::combine(all, below);
    if (lane == 0) state_.before_group[stage] = before;
  }

  const Locate& locate_;
  const long long length_;
  const unsigned int total_, chunks_;
  unsigned long long* const words_;
  unsigned char* const buffers_;
  State& state_;
};

}  // namespace spanwise

#endif
