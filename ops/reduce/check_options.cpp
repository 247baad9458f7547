// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "check_options.hpp"

#include "kinds.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::reduce {
namespace {

bool is_arg(Operation op) { return op == Operation::argmin || op == Operation::argmax; }

void check_dtype(Operation op, DType element, const Options& options) {
  if (!element.is_computable())
    fail<DTypeError>(name_of(op), ": cannot compute on ", element, "; cast with astype() first");
  if (op == Operation::ptp && element.is_bool())
    fail<DTypeError>("ptp: bools cannot be subtracted; use max() ^ min()");
  const bool is_spread = op == Operation::var || op == Operation::std;
  if (is_spread && options.dtype && is_whole(*options.dtype))
    fail<DTypeError>(name_of(op), ": expected a floating or complex dtype, got ",
                     options.dtype.value_or(float32), "; leave dtype= out");
}

void check_reduced_out(Operation op, const Array& array, const Options& options) {
  if (options.out == nullptr) return;
  const Array& out = *options.out;
  check_out(name_of(op), out, reduced_shape(array.shape(), options.axes, options.keepdims),
            array.device());
  if (is_arg(op) && !out.dtype().is_integer())
    fail<DTypeError>(name_of(op), ": indices are integers, and out is ", out.dtype(),
                     "; pass an int64 out");
}

std::optional<Array> checked_mask(Operation op, const Array& array, const Options& options) {
  if (options.where == nullptr) return {};
  const Array& where = *options.where;
  if (!where.dtype().is_bool())
    fail<DTypeError>(name_of(op), ": where= must be bool, got ", where.dtype(),
                     "; compare it with 0");
  if (where.device() != array.device())
    fail<DeviceError>(name_of(op), ": where= is on ", where.device(), " and the array on ",
                      array.device(), "; move it with .to(\"", array.device(), "\")");
  const bool is_order = op == Operation::min || op == Operation::max;
  if (is_order && !options.initial)
    fail<ArgumentError>(name_of(op), ": has no identity, so where= needs initial=");
  return where.broadcast_to(array.shape());
}

void check_not_empty(Operation op, const Array& array, const Options& options) {
  const bool is_order = op == Operation::min || op == Operation::max || op == Operation::ptp;
  if ((!is_arg(op) && !is_order) || options.initial || elements_of(array, options.axes) > 0) return;
  if (is_arg(op))
    fail<ArgumentError>("attempt to get ", name_of(op), " of an empty sequence: shape ",
                        array.shape(), " has no element along the axis");
  fail<ArgumentError>(name_of(op), ": zero-size array of shape ", array.shape(),
                      " to a reduction which has no identity; pass initial=");
}

}  // namespace

Shape reduced_shape(const Shape& shape, const AxisSet& axes, bool keepdims) {
  Shape result;
  for (int axis = 0; axis < shape.size(); ++axis) {
    const bool is_reduced = axes[static_cast<std::size_t>(axis)];
    if (!is_reduced || keepdims)
      result = result.inserted(result.size(), is_reduced ? 1 : shape[axis]);
  }
  return result;
}

std::int64_t elements_of(const Array& array, const AxisSet& axes) {
  std::int64_t count = 1;
  for (int i = 0; i < array.rank(); ++i)
    if (axes[static_cast<std::size_t>(i)]) count *= array.shape()[i];
  return count;
}

std::optional<Array> check_options(Operation op, const Array& array, const Options& options) {
  check_dtype(op, array.dtype(), options);
  check_reduced_out(op, array, options);
  std::optional<Array> mask = checked_mask(op, array, options);
  check_not_empty(op, array, options);
  return mask;
}

void check_out(const char* caller, const Array& out, const Shape& shape, Device device) {
  if (out.shape() != shape)
    fail<LayoutError>(caller, ": expected an out of shape ", shape, ", got ", out.shape());
  if (out.readonly()) fail<ReadOnlyError>(caller, ": out is read-only; pass a writable one");
  if (out.device() != device)
    fail<DeviceError>(caller, ": out is on ", out.device(), " and the array on ", device,
                      "; pass an out on ", device);
}

}  // namespace spanwise::ops::reduce
