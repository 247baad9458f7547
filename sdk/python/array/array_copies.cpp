// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/array/array_copies.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

/// Copies of arrays: NumPy's `order`, assignment of values, and the methods astype, copy, fill, to
/// and sync.
namespace spanwise::python {

namespace py = pybind11;

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

namespace {

// As NumPy, a value may have more axes than the target if the leading ones have extent 1.
Array without_surplus_axes(Array value, int rank) {
  while (value.rank() > rank && value.shape()[0] == 1) value = value.squeeze(0);
  return value;
}

void check_writeable(const Array& target) {
  if (target.readonly())
    fail<ReadOnlyError>("Array: cannot assign to ", target, "; assign to a copy: a.copy()");
}

}  // namespace

Array assignable(PyObject* value, DType dtype) {
  if (is_array(value)) return array_in(value);
  ImportOptions options;
  if (PyList_Check(value) || PyTuple_Check(value)) {
    options.dtype = dtype;
    options.device = cpu;  // assign() copies them to the target's device
  }
  return import_array(value, options);
}

void assign(const Array& target, PyObject* value) {
  if (is_array(value)) return assign(target, array_in(value));
  if (!is_python_scalar(value)) return assign(target, assignable(value, target.dtype()));
  check_writeable(target);
  const Scalar scalar = scalar_from(value, target.dtype());
  const GilRelease unlocked(is_long(target));
  fill(target, scalar);
}

void assign(const Array& target, const Array& source) {
  check_writeable(target);
  if (source.rank() > target.rank()) {
    const Array trimmed = without_surplus_axes(source, target.rank());
    const GilRelease unlocked(is_long(trimmed, target));
    return copy(trimmed, target);
  }
  const GilRelease unlocked(is_long(source, target));
  copy(source, target);
}

// Array's methods astype, copy, fill, to and sync.

namespace {

// Whether `layout` has the order of axes of `copy`, the layout that a copy in `order` has.
bool has_order(ArrayOrder order, const Layout& layout, const Layout& copy) {
  if (order == ArrayOrder::k) return true;
  return copy.is_row_major() ? layout.is_row_major() : layout.is_column_major();
}

PyObject* astype(PyObject* self, PyObject* dtype, PyObject* order, PyObject* casting,
                 PyObject* copy, PyObject* device) {
  const Array& array = array_in(self);
  const DType target = dtype_from(dtype);
  const Device target_device = device_or(device, array.device());
  const ArrayOrder target_order = order_or(order, ArrayOrder::k);
  if (given(casting)) {
    check_casting(array.dtype(), target, value_of<std::string>(casting, "casting"), "astype");
  }
  if (!truth_or(copy, true) && target == array.dtype() && target_device == array.device() &&
      has_order(target_order, array.layout(),
                packed_layout(target_order, array.shape(), array.layout()))) {
    return Py_NewRef(self);
  }
  return wrap(copied(array, target, target_device, target_order));
}

PyObject* copy_with_order(PyObject* self, ArrayOrder order) {
  const Array& array = array_in(self);
  return wrap(copied(array, array.dtype(), array.device(), order));
}

PyObject* copy(PyObject* self, PyObject* order) {
  return copy_with_order(self, order_or(order, ArrayOrder::c));
}

// __copy__ and __deepcopy__: both copy the elements, as NumPy's do.
PyObject* copy_keeping_order(PyObject* self) { return copy_with_order(self, ArrayOrder::k); }

void fill(PyObject* self, PyObject* value) { assign(array_in(self), value); }

PyObject* to(PyObject* self, PyObject* device, PyObject* copy_argument) {
  const Array& array = array_in(self);
  const Device target = device_from(device);
  const CopyMode mode = copy_mode_from(copy_argument);
  if (mode != CopyMode::always && target == array.device()) return Py_NewRef(self);
  return wrap(without_gil([&] { return to_device(array, target, mode); }));
}

PyObject* sync(PyObject* self) {
  const Array array = array_in(self);
  if (array.storage()) {
    const GilRelease unlocked;
    for (const Ref<StreamIdentity>& user : array.storage().uses().all()) {
      Stream::of(*user).synchronize();
    }
  }
  return Py_NewRef(self);
}

PyMethodDef convert_methods[] = {
    declared<"astype($self, dtype, order='K', casting='unsafe', *, copy=True, device=None)",
             "A copy cast to `dtype`, on `device` if given; with copy=False the array itself where "
             "neither\ndtype, device nor order change. `order` is that of numpy.ndarray.astype. "
             "Raises DTypeError\nfor a cast that `casting` does not allow.",
             &astype>(),
    declared<"copy($self, order='C')",
             "A new array with the same elements, on the same device. `order` is 'C', 'F',\n'A' or "
             "'K', as in NumPy.",
             &copy>(),
    declared<"__copy__($self)", "", &copy_keeping_order>(),
    declared<"__deepcopy__($self, memo=None)", "",
             [](PyObject* self, PyObject*) { return copy_keeping_order(self); }>(),
    declared<"fill($self, value)", "Sets every element to `value`.", &fill>(),
    declared<"to($self, device, *, copy=None)",
             "The array on `device`: itself if it is on it, else a copy. copy=True always "
             "copies,\ncopy=False raises CopyNeededError instead.",
             &to>(),
    declared<"sync($self)",
             "Waits for all streams that use the array's memory, and returns the array.", &sync>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_convert, array_type) { add_array_methods(convert_methods); }

}  // namespace spanwise::python
