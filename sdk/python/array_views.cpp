// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "array_order.hpp"
#include "bind.hpp"
#include "py_array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"

/// The methods that make views, and reshape and its kin, which make one where they can.
namespace spanwise::python {

namespace py = pybind11;

namespace {

CopyMode copy_mode(std::optional<bool> copy) {
  if (!copy) return CopyMode::if_needed;
  return *copy ? CopyMode::always : CopyMode::never;
}

// f(2, 3) and f((2, 3)) are the same call.
Shape shape_in(const py::args& args, const char* who) {
  require<ArgumentError>(!args.empty(), who, ": expected a shape, got none; pass () for rank 0");
  return shape_from(args.size() == 1 ? py::handle(args[0]) : py::handle(args));
}

// Who asks for .base learns whether the result is a view.
py::object view_or_copy(const ArrayObject& self, Array result) {
  if (result.storage() == self.array().storage()) return self.with_view(std::move(result));
  return py::cast(std::move(result));
}

py::object reshape_object(const ArrayObject& self, const Shape& shape, const std::string& order,
                          std::optional<bool> copy) {
  const Order wanted = order_from(order);
  require<ArgumentError>(wanted != Order::k, "reshape: expected order \"C\", \"F\" or \"A\", got \"", order, "\"");
  return view_or_copy(self, reshaped(self.array(), shape, wanted, copy_mode(copy)));
}

py::object transpose(const ArrayObject& self, const py::args& args) {
  if (args.empty() || (args.size() == 1 && args[0].is_none())) return self.with_view(self.array().transpose());
  const Shape given = shape_in(args, "transpose");
  std::vector<int> axes;
  for (const std::int64_t axis : given) axes.push_back(self.array().layout().normalise_axis(axis));
  return self.with_view(self.array().permute(axes));
}

py::object swapaxes(const ArrayObject& self, std::int64_t axis1, std::int64_t axis2) {
  const Layout& layout = self.array().layout();
  std::vector<int> axes(static_cast<std::size_t>(layout.rank()));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  const auto first = static_cast<std::size_t>(layout.normalise_axis(axis1));
  std::swap(axes[first], axes[static_cast<std::size_t>(layout.normalise_axis(axis2))]);
  return self.with_view(self.array().permute(axes));
}

// The axes to drop, highest first, so that dropping one does not renumber the rest.
std::vector<int> axes_to_squeeze(const Layout& layout, py::handle axis) {
  std::vector<int> axes;
  if (axis.is_none()) {
    for (int i = 0; i < layout.rank(); ++i) {
      if (layout.shape[i] == 1) axes.push_back(i);
    }
  } else {
    for (const std::int64_t a : shape_from(axis)) axes.push_back(layout.normalise_axis(a));
  }
  std::sort(axes.rbegin(), axes.rend());
  const bool repeated = std::adjacent_find(axes.begin(), axes.end()) != axes.end();
  require<LayoutError>(!repeated, "squeeze: an axis is named twice for shape ", layout.shape);
  return axes;
}

py::object squeeze(const ArrayObject& self, py::handle axis) {
  Array view = self.array();
  for (const int a : axes_to_squeeze(view.layout(), axis)) view = view.squeeze(a);
  return self.with_view(std::move(view));
}

py::object ravel(const ArrayObject& self, const std::string& order) {
  return view_or_copy(self, flattened(self.array(), order_from(order), CopyMode::if_needed));
}

py::object view(const ArrayObject& self, py::handle dtype) {
  if (dtype.is_none()) return self.with_view(self.array());
  return self.with_view(self.array().reinterpret(dtype_from(dtype)));
}

py::object diagonal(const ArrayObject& self, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  const Layout& layout = self.array().layout();
  return self.with_view(
      self.array().diagonal(offset, layout.normalise_axis(axis1), layout.normalise_axis(axis2)));
}

// A function of the module takes any library's array; the result's base is then the imported one.
ArrayObject as_object(py::handle x) {
  if (is_array(x.ptr())) return py::reinterpret_borrow<ArrayObject>(x);
  return py::reinterpret_steal<ArrayObject>(py::cast(import_array(x.ptr())).release());
}

}  // namespace

Shape shape_from(py::handle object) {
  const auto extent = [&object](py::handle item) -> std::int64_t {
    if (!PyIndex_Check(item.ptr()) || PyBool_Check(item.ptr())) {
      fail<ArgumentError>("shape: expected an int or a sequence of ints, got ", std::string(py::repr(object)));
    }
    const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
    return value;
  };
  // Arrays have __index__ and are iterable too; only those of rank 0 are an int.
  const bool is_sequence = PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()) ||
                           (PySequence_Check(object.ptr()) && PyObject_Size(object.ptr()) >= 0);
  PyErr_Clear();
  if (!is_sequence && PyIndex_Check(object.ptr())) return Shape{extent(object)};
  const auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) {
    PyErr_Clear();
    fail<ArgumentError>("shape: expected an int or a sequence of ints, got ", std::string(py::repr(object)));
  }
  std::vector<std::int64_t> extents;
  while (const auto item = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()))) {
    extents.push_back(extent(item));
  }
  if (PyErr_Occurred()) throw py::error_already_set();
  return Shape(std::span<const std::int64_t>(extents));
}

SW_BIND(array_views, 54) {
  def_array_method(
      "reshape",
      [](const ArrayObject& self, const py::args& shape, const std::string& order, std::optional<bool> copy) {
        return reshape_object(self, shape_in(shape, "reshape"), order, copy);
      },
      py::arg("order") = "C", py::arg("copy") = py::none(),
      "The same elements under another shape; one extent may be -1. A view where the strides allow\n"
      "(then .base is not None), else a copy; copy=False refuses to copy, copy=True always does.");
  def_array_method("transpose", &transpose, "View with the axes reversed, or in the order given.");
  def_array_method("swapaxes", &swapaxes, py::arg("axis1"), py::arg("axis2"), py::pos_only(),
                   "View with two axes exchanged.");
  def_array_method("squeeze", &squeeze, py::arg("axis") = py::none(),
                   "View without the axes of extent 1, or without those named.");
  def_array_method("ravel", &ravel, py::arg("order") = "C", "One-dimensional; a view where the strides allow.");
  def_array_method("view", &view, py::arg("dtype") = py::none(), "The same bytes, read as another dtype.");
  def_array_method("diagonal", &diagonal, py::arg("offset") = 0, py::arg("axis1") = 0, py::arg("axis2") = 1,
                   "View of a diagonal, which becomes the last axis; writeable unless the array is read-only.");
  def_array_method(
      "broadcast_to",
      [](const ArrayObject& self, const Shape& shape) { return self.with_view(self.array().broadcast_to(shape)); },
      py::arg("shape"), "View stretched to `shape` with strides of 0.");

  module.def(
      "reshape",
      [](py::handle x, const Shape& shape, const std::string& order, std::optional<bool> copy) {
        return reshape_object(as_object(x), shape, order, copy);
      },
      py::arg("a"), py::pos_only(), py::arg("shape"), py::arg("order") = "C", py::kw_only(),
      py::arg("copy") = py::none(), "As Array.reshape, for any library's array.");
  module.def(
      "broadcast_to",
      [](py::handle x, const Shape& shape) {
        const ArrayObject array = as_object(x);
        return array.with_view(array.array().broadcast_to(shape));
      },
      py::arg("array"), py::arg("shape"), "As Array.broadcast_to, for any library's array.");
}

}  // namespace spanwise::python
