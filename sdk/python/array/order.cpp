// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "order.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "python/support/call.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace {

// The axes of `like` in NumPy's iteration order "K": by descending stride, where an axis of stride
// 0 keeps its position among its neighbours. An insertion sort from the innermost axis, as in
// NumPy: "0 equals everything" is no strict weak ordering, so std::sort cannot be used, and the
// result depends on the order of the comparisons.
std::vector<int> axes_in_memory_order(const Layout& like) {
  std::vector<int> axes(static_cast<std::size_t>(like.rank()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  const auto step = [&](int axis) -> std::int64_t {
    return like.shape[axis] == 1 ? 0 : std::abs(like.strides[axis]);
  };
  for (std::size_t i = 1; i < axes.size(); ++i) {
    std::size_t position = i;
    for (std::size_t j = i; j > 0; --j) {
      const std::int64_t inner = step(axes[j - 1]), inserted = step(axes[i]);
      if (inner == 0 || inserted == 0) continue;
      if (inner <= inserted) break;
      position = j - 1;
    }
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(position),
                axes.begin() + static_cast<std::ptrdiff_t>(i),
                axes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

Shape reversed(const Shape& shape) {
  Shape out = shape;
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

ArrayOrder order_from(std::string_view name) {
  if (name == "C" || name == "c") return ArrayOrder::c;
  if (name == "F" || name == "f") return ArrayOrder::f;
  if (name == "A" || name == "a") return ArrayOrder::a;
  if (name == "K" || name == "k") return ArrayOrder::k;
  fail<ArgumentError>("order: expected \"C\", \"F\", \"A\" or \"K\", got \"", name, "\"");
}

ArrayOrder order_or(PyObject* argument, ArrayOrder default_value) {
  return given(argument) ? order_from(text_in(argument)) : default_value;
}

ArrayOrder resolved_order(ArrayOrder order, std::span<const Array* const> operands) noexcept {
  if (order != ArrayOrder::a) return order;
  const bool all_column_major = std::all_of(
      operands.begin(), operands.end(),
      [](const Array* array) { return array == nullptr || array->layout().is_column_major(); });
  return all_column_major ? ArrayOrder::f : ArrayOrder::c;
}

Layout packed_layout(ArrayOrder order, const Shape& shape, const Layout& like) {
  const bool like_is_column_major = like.is_column_major() && !like.is_row_major();
  if (order == ArrayOrder::f || (order == ArrayOrder::a && like_is_column_major))
    return Layout::column_major(shape);
  if (order == ArrayOrder::k && like.rank() == shape.size() && !like.is_row_major())
    return like.packed(shape);
  return Layout::row_major(shape);
}

Array copied(const Array& source, DType dtype, Device device, ArrayOrder order) {
  const bool is_row_major = order != ArrayOrder::f && source.layout().is_row_major();
  Array target =
      is_row_major  // the common case, for which empty() is faster
          ? empty(source.shape(), dtype, device)
          : empty_in(packed_layout(order, source.shape(), source.layout()), dtype, device);
  const GilRelease unlocked(is_long(source, target));
  copy(source, target);
  return target;
}

// A column-major reshape is the transpose of a row-major reshape of the transposed array.
Array reshaped(const Array& source, const Shape& shape, ArrayOrder order, CopyMode mode) {
  const bool is_column_major = source.layout().is_column_major() && !source.layout().is_row_major();
  const GilRelease unlocked(is_long(source));
  if (order == ArrayOrder::f || (order == ArrayOrder::a && is_column_major)) {
    return reshape(source.transpose(), reversed(shape), mode).transpose();
  }
  return reshape(source, shape, mode);
}

Array flattened(const Array& source, ArrayOrder order, CopyMode mode) {
  const Shape flat{source.size()};
  if (order != ArrayOrder::k) return reshaped(source, flat, order, mode);
  return reshaped(source.permute(axes_in_memory_order(source.layout())), flat, ArrayOrder::c, mode);
}

}  // namespace spanwise::python
