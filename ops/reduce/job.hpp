// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "computed_elements.hpp"
#include "kinds.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/scalar.hpp"

namespace spanwise::ops::reduce {

/// The arguments of one reduction pass over an array. Arrays must live until the call returns; all
/// are on one device, and the result shares no memory with the others.
struct ReduceJob {
  ReductionTypes types;
  const Array* input;  ///< with `computed`, only its shape and its dtype are used
  /// Of the input's rank, with extent 1 for reduced axes; of the accumulator's dtype (int64 for
  /// indices), or one that can_store() accepts.
  const Array* result;
  const Array* mask = nullptr;  ///< bool, of the input's shape (strides 0 where broadcast)
  /// A number for each output, in the result's shape: the mean of a deviation, or what
  /// Finish::subtract subtracts.
  const Array* subtrahend = nullptr;
  const Array* divisors = nullptr;  ///< float64, in the result's shape
  double divisor = 1;               ///< used if `divisors` is null
  double correction = 0;            ///< subtracted from the divisor; the difference is at least 0
  Finish finish = Finish::nothing;
  std::optional<Scalar> initial{};  ///< of the accumulator's dtype
  /// Computes the elements, in place of the input; then mask, subtrahend and divisors are null.
  const ComputedElements* computed = nullptr;
};

/// A scan along one axis: each element combined with all before it.
struct ScanJob {
  ReductionTypes types;
  const Array* input;
  const Array* result;  ///< of the input's shape
  int axis;
};

/// Whether values of dtype `accumulator` can be stored as `result`.
bool can_store(DType accumulator, DType result) noexcept;

/// The results are not empty. Both return false, and do nothing, where the job has computed
/// elements that are cheaper to write to memory first.
bool run_on_cpu(const ReduceJob& job);
bool run_on_cuda(const ReduceJob& job);
void scan_on_cpu(const ScanJob& job);
void scan_on_cuda(const ScanJob& job);

/// What a back end implements, for results with elements.
struct ReduceBackend {
  bool (*reduce)(const ReduceJob& job);  ///< as run_on_cpu()
  void (*scan)(const ScanJob& job);
};
extern DeviceTable<ReduceBackend> reduce_backends;

}  // namespace spanwise::ops::reduce
