// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>

#include "spanwise/array.hpp"
#include "spanwise/dims.hpp"
#include "spanwise/export.hpp"
#include "spanwise/scalar.hpp"

/// Reductions and scans over any axes of any layout, with NumPy's meaning, on the array's device.
///
/// Sums of float16, bfloat16 and float32 are added up in double precision and rounded once; those
/// of float64 in chains of limited length. How work is cut depends on shapes alone, so results do
/// not depend on the number of threads, nor on the run. On a GPU everything is queued on the
/// current stream.
namespace spanwise::ops::reduce {

enum class Op {
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
SW_API const char* name_of(Op op) noexcept;

using AxisSet = std::bitset<max_rank>;

struct Options {
  AxisSet axes{};                ///< the axes that go
  bool keepdims = false;         ///< they stay with extent 1
  std::optional<DType> dtype{};  ///< of sum, prod, nansum, mean, var, std
  const Array* out = nullptr;    ///< of the result's shape; the result is cast to it as astype does
  std::optional<Scalar>
      initial{};                 ///< an element more for every output; sum, prod, nansum, min, max
  const Array* where = nullptr;  ///< bool, broadcast to the array: elements that count
  const Array* mean = nullptr;   ///< var, std: the means where they are known, shape with keepdims
  double correction = 0;         ///< var, std: what is taken off the count
};

/// The result: out where given, else a new array (of rank 0 where all axes go). Throws LayoutError
/// for shapes that do not fit, ArgumentError for the smallest of nothing, DTypeError, DeviceError,
/// ReadOnlyError.
SW_API Array reduce(Op op, const Array& array, const Options& options);

/// Sums (or products) of each element and those before it along `axis`. `out` as above, of the
/// array's shape.
SW_API Array scan(Op op, const Array& array, int axis, std::optional<DType> dtype,
                  const Array* out);

/// How many elements are not zero, where the host can tell at once (a small contiguous array of its
/// own); else nothing.
SW_API std::optional<std::int64_t> count_at_once(const Array& array);

/// The dtype of the result where none is asked for, and of an initial value.
SW_API DType result_dtype(Op op, DType element, std::optional<DType> dtype);

}  // namespace spanwise::ops::reduce
