// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/op_sdk.hpp"

/// Reductions and scans over any axes of any layout, with NumPy's semantics, on the array's device.
///
/// Sums of float16, bfloat16 and float32 are accumulated in double precision and rounded once;
/// those of float64 in chains of limited length. The work is split by shapes alone, so results do
/// not depend on the number of threads and are the same in each run. On a GPU everything is queued
/// on the current stream.
namespace spanwise::ops::reduce {

enum class Operation {
  sum,
  prod,
  nansum,
  mean,
  var,
  std,
  min,
  max,
  ptp,
  any,
  all,
  count_nonzero,
  argmin,
  argmax,
};

/// NumPy's name.
SW_API const char* name_of(Operation op) noexcept;

using AxisSet = std::bitset<max_rank>;

struct Options {
  AxisSet axes{};                ///< the axes to reduce
  bool keepdims = false;         ///< reduced axes stay with extent 1
  std::optional<DType> dtype{};  ///< for sum, prod, nansum, mean, var, std
  const Array* out = nullptr;    ///< of the result's shape; the result is cast to it as astype does
  /// sum, prod, nansum, min, max: an additional element of each output.
  std::optional<Scalar> initial{};
  const Array* where = nullptr;  ///< bool, broadcast to the array: which elements to include
  const Array* mean = nullptr;   ///< var, std: the means if known, in the shape with keepdims
  double correction = 0;         ///< var, std: subtracted from the count
};

/// Returns out if given, else a new array (of rank 0 if all axes are reduced). Throws LayoutError
/// if shapes do not match, ArgumentError if a reduction without identity has no elements,
/// DTypeError, DeviceError, ReadOnlyError.
SW_API Array reduce(Operation op, const Array& array, const Options& options);

/// Cumulative sums or products along `axis`. `out` as for reduce(), of the array's shape.
SW_API Array scan(Operation op, const Array& array, int axis, std::optional<DType> dtype,
                  const Array* out);

/// The number of nonzero elements of a small contiguous array on the CPU; nullopt for other arrays.
SW_API std::optional<std::int64_t> try_count_nonzero(const Array& array);

/// The dtype of the result, and of an initial value; `dtype` is the one requested, if any.
SW_API DType result_dtype(Operation op, DType element, std::optional<DType> dtype);

/// The properties of the graph op for `op` with these options, of which axes, keepdims, dtype and
/// correction are used. Reductions and scans are registered as graph ops under NumPy's names
/// ("sum", "argmax", "cumsum", ...) with the properties axis (a list of nonnegative axes; absent:
/// all), keepdims, dtype (its name) and correction.
SW_API OpProperties properties_for(Operation op, int rank, const Options& options);

}  // namespace spanwise::ops::reduce
