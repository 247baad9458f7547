// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces CUB's headers: its block and warp primitives (nvidia.github.io/cccl/cub). Thread
// 0 of a block combines the values of all threads in their order, so sums of reals may differ from
// a GPU's in the last places. CUB's device-wide functions are host code and left out.

#include "spanwise_cub_warp.h"
#include "spanwise_host_libraries.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

namespace sw_detail {
SW_FN int rank_in_block() { return (int)sw_linear_thread(); }
// The values of a block's threads, and one that they share.
template <class SwT, int SwThreads>
struct values_of_block {
  storage_of<SwT> values[SwThreads + 1];
  SwT& operator[](int rank) { return values[rank].get(); }
};
}  // namespace sw_detail

template <class SwT, int SwX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int SwY = 1,
          int SwZ = 1, int = 0>
class BlockReduce {
 public:
  using TempStorage = sw_detail::values_of_block<SwT, SwX * SwY * SwZ>;
  explicit BlockReduce(TempStorage& storage) : values_(storage) {}

  /// The result is thread 0's.
  template <class SwOp>
  SwT Reduce(SwT value, SwOp op, int valid = SwX * SwY * SwZ,
             sw_line line = sw_line(__builtin_LINE())) {
    const int rank = sw_detail::rank_in_block();
    values_[rank] = value;
    ::sw_barrier(line.value);
    if (rank == 0)
      for (int i = 1; i < valid; ++i) value = op(value, values_[i]);
    return value;
  }
  template <int SwN, class SwOp>
  SwT Reduce(SwT (&values)[SwN], SwOp op, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(sw_detail::combined(values, op), op, SwX * SwY * SwZ, line);
  }
  SwT Sum(SwT value, int valid = SwX * SwY * SwZ, sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(value, cub::Sum(), valid, line);
  }
  template <int SwN>
  SwT Sum(SwT (&values)[SwN], sw_line line = sw_line(__builtin_LINE())) {
    return Reduce(values, cub::Sum(), line);
  }

 private:
  TempStorage& values_;
};

template <class SwT, int SwX, BlockScanAlgorithm SwAlgorithm = BLOCK_SCAN_RAKING, int SwY = 1,
          int SwZ = 1, int SwArchitecture = 0>
class BlockScan
    : public sw_detail::scans<BlockScan<SwT, SwX, SwAlgorithm, SwY, SwZ, SwArchitecture>, SwT> {
  static constexpr int threads = SwX * SwY * SwZ;
  using base = sw_detail::scans<BlockScan, SwT>;

 public:
  using TempStorage = sw_detail::values_of_block<SwT, threads>;
  explicit BlockScan(TempStorage& storage) : values_(storage) {}

  using base::ExclusiveScan;
  using base::ExclusiveSum;
  using base::InclusiveSum;
  /// Without an initial value thread 0's result is undefined.
  template <class SwOp>
  void ExclusiveScan(SwT in, SwT& out, SwOp op, sw_line line = sw_line(__builtin_LINE())) {
    scan(in, op, [](SwT) {}, nullptr, line);
    if (const int rank = sw_detail::rank_in_block(); rank > 0) out = values_[rank - 1];
  }
  /// `prefix` is called by thread 0 with the total, and returns the sum of all values before the
  /// block.
  template <class SwPrefix, class = decltype(&SwPrefix::operator())>
  void ExclusiveSum(SwT in, SwT& out, SwPrefix& prefix, sw_line line = sw_line(__builtin_LINE())) {
    scan(in, cub::Sum(), [&](SwT sum) { values_[threads] = prefix(sum); }, nullptr, line);
    const int rank = sw_detail::rank_in_block();
    out = rank == 0 ? values_[threads] : values_[threads] + values_[rank - 1];
  }
  template <class SwPrefix, class = decltype(&SwPrefix::operator())>
  void InclusiveSum(SwT in, SwT& out, SwPrefix& prefix, sw_line line = sw_line(__builtin_LINE())) {
    SwT before;
    ExclusiveSum(in, before, prefix, line);
    out = before + in;
  }

 private:
  friend base;
  template <class SwOp>
  void inclusive(SwT in, SwT& out, SwOp op, SwT* total, sw_line line) {
    scan(in, op, [](SwT) {}, total, line);
    out = values_[sw_detail::rank_in_block()];
  }
  template <class SwOp>
  void exclusive(SwT in, SwT& out, SwT first, SwOp op, SwT* total, sw_line line) {
    scan(in, op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    out = rank == 0 ? first : op(first, values_[rank - 1]);
  }
  // Several values a thread: the threads' totals are scanned, then each thread's values.
  template <int SwN, class SwOp>
  void inclusive(SwT (&in)[SwN], SwT (&out)[SwN], SwOp op, SwT* total, sw_line line) {
    scan(sw_detail::combined(in, op), op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    SwT sum = in[0];
    if (rank > 0) sum = op(values_[rank - 1], sum);
    for (int i = 0; i < SwN; ++i) {
      if (i > 0) sum = op(sum, in[i]);
      out[i] = sum;
    }
  }
  template <int SwN, class SwOp>
  void exclusive(SwT (&in)[SwN], SwT (&out)[SwN], SwT first, SwOp op, SwT* total, sw_line line) {
    scan(sw_detail::combined(in, op), op, [](SwT) {}, total, line);
    const int rank = sw_detail::rank_in_block();
    SwT sum = rank == 0 ? first : op(first, values_[rank - 1]);
    for (int i = 0; i < SwN; ++i) {
      const SwT value = in[i];
      out[i] = sum;
      sum = op(sum, value);
    }
  }
  // Leaves the inclusive scan in values_; thread 0 calls with_total with the total first.
  template <class SwOp, class SwWithTotal>
  void scan(SwT in, SwOp op, SwWithTotal with_total, SwT* total, sw_line line) {
    const int rank = sw_detail::rank_in_block();
    values_[rank] = in;
    ::sw_barrier(line.value);
    if (rank == 0) {
      for (int i = 1; i < threads; ++i) values_[i] = op(values_[i - 1], values_[i]);
      with_total(values_[threads - 1]);
    }
    ::sw_barrier(line.value);
    if (total != nullptr) *total = values_[threads - 1];
  }
  TempStorage& values_;
};

}  // namespace cub

#include "spanwise_cub_data.h"
