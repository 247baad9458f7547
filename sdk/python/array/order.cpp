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
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace {

// The axes of `like` in NumPy's iteration order "K": by descending stride, where an axis of stride
// 0 keeps its position among its neighbours. An insertion sort from the innermost axis, as in
// NumPy: "0 equals everything" is no strict weak ordering, so std::sort cannot be used, and the
// result depends on the order of the comparisons.
std::vector<int> axes_as_walked(const Layout& like) {
  std::vector<int> axes(static_cast<std::size_t>(like.rank()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  const auto step = [&](int axis) -> std::int64_t {
    return like.shape[axis] == 1 ? 0 : std::abs(like.strides[axis]);
  };
  for (std::size_t i = 1; i < axes.size(); ++i) {
    std::size_t position = i;
    for (std::size_t j = i; j > 0; --j) {
      const std::int64_t inner = step(axes[j - 1]), here = step(axes[i]);
      if (inner == 0 || here == 0) continue;
      if (inner <= here) break;
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

ArrayOrder order_from(std::string_view word) {
  if (word == "C" || word == "c") return ArrayOrder::c;
  if (word == "F" || word == "f") return ArrayOrder::f;
  if (word == "A" || word == "a") return ArrayOrder::a;
  if (word == "K" || word == "k") return ArrayOrder::k;
  fail<ArgumentError>("order: expected \"C\", \"F\", \"A\" or \"K\", got \"", word, "\"");
}

ArrayOrder order_in(PyObject* argument, ArrayOrder otherwise) {
  return given(argument) ? order_from(text_in(argument)) : otherwise;
}

ArrayOrder resolved_order(ArrayOrder order, std::span<const Array* const> operands) noexcept {
  if (order != ArrayOrder::a) return order;
  const bool all_columns = std::all_of(operands.begin(), operands.end(), [](const Array* array) {
    return array == nullptr || array->layout().is_column_major();
  });
  return all_columns ? ArrayOrder::f : ArrayOrder::c;
}

Layout layout_in(ArrayOrder order, const Shape& shape, const Layout& like) {
  const bool like_is_column_major = like.is_column_major() && !like.is_row_major();
  if (order == ArrayOrder::f || (order == ArrayOrder::a && like_is_column_major))
    return Layout::column_major(shape);
  if (order == ArrayOrder::k && like.rank() == shape.size() && !like.is_row_major())
    return like.packed(shape);
  return Layout::row_major(shape);
}

Array copied(const Array& source, DType dtype, Device device, ArrayOrder order) {
  if (order != ArrayOrder::f && source.layout().is_row_major()) {  // the common case
    Array target = empty(source.shape(), dtype, device);
    const GilRelease unlocked(is_long(source, target));
    copy(source, target);
    return target;
  }
  const Layout layout = layout_in(order, source.shape(), source.layout());
  Array target = empty_in(layout, dtype, device);
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
  return reshaped(source.permute(axes_as_walked(source.layout())), flat, ArrayOrder::c, mode);
}

}  // namespace spanwise::python
