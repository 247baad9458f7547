// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "array_assign.hpp"
#include "array_order.hpp"
#include "bind.hpp"
#include "py_array.hpp"
#include "py_scalar.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

/// empty, zeros, ones, full, their *_like forms and eye: NumPy's signatures plus device=.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// NumPy's default dtype where nothing else says one.
DType dtype_or(py::handle dtype, DType otherwise) { return dtype.is_none() ? otherwise : dtype_from(dtype); }

Array make_empty(const Shape& shape, DType dtype, const std::string& order, Device device) {
  const Order wanted = order_from(order);
  const py::gil_scoped_release unlocked;
  return empty_in(layout_in(wanted, shape), dtype, device);
}

Array filled(Array array, const Scalar& value) {
  const py::gil_scoped_release unlocked;
  fill(array, value.cast(array.dtype()));
  return array;
}

// The dtype of an array of this one value: NumPy's for a Python number, else the value's own.
DType dtype_of_value(PyObject* value) {
  if (PyBool_Check(value)) return bool_;
  if (PyLong_Check(value)) return int64;
  if (PyFloat_Check(value)) return float64;
  if (PyComplex_Check(value)) return complex128;
  return import_array(value).dtype();
}

// What the *_like functions take from an existing array unless told otherwise.
struct Like {
  py::object dtype, shape, device;
  std::string order;

  Array make(const Array& model) const {
    const Shape extents = shape.is_none() ? model.shape() : shape_from(shape);
    const Layout layout = layout_in(order_from(order), extents, model.layout());
    const DType type = dtype_or(dtype, model.dtype());
    const Device home = device.is_none() ? model.device() : device_from(device);
    const py::gil_scoped_release unlocked;
    return empty_in(layout, type, home);
  }
};

void bind_new(py::module_& module) {
  const auto def = [&module](const char* name, std::optional<std::int64_t> value, const char* doc) {
    module.def(
        name,
        [value](const Shape& shape, py::handle dtype, const std::string& order, Device device) {
          Array made = make_empty(shape, dtype_or(dtype, float64), order, device);
          return value ? filled(std::move(made), Scalar(*value)) : made;
        },
        py::arg("shape"), py::arg("dtype") = py::none(), py::arg("order") = "C", py::kw_only(),
        py::arg("device") = py::none(), doc);
  };
  def("empty", std::nullopt, "An array of `shape`, uninitialised; float64 unless told otherwise.");
  def("zeros", 0, "An array of zeros; float64 unless told otherwise.");
  def("ones", 1, "An array of ones; float64 unless told otherwise.");
  module.def(
      "full",
      [](const Shape& shape, py::handle fill_value, py::handle dtype, const std::string& order, Device device) {
        const DType type = dtype.is_none() ? dtype_of_value(fill_value.ptr()) : dtype_from(dtype);
        const Array made = make_empty(shape, type, order, device);
        assign(made, fill_value.ptr());
        return made;
      },
      py::arg("shape"), py::arg("fill_value"), py::arg("dtype") = py::none(), py::arg("order") = "C",
      py::kw_only(), py::arg("device") = py::none(), "An array filled with `fill_value`, which may be an array that broadcasts.");
}

void bind_like(py::module_& module) {
  const auto def = [&module](const char* name, std::optional<std::int64_t> value, const char* doc) {
    module.def(
        name,
        [value](const Array& a, py::object dtype, std::string order, py::object shape, py::object device) {
          Array made = Like{std::move(dtype), std::move(shape), std::move(device), std::move(order)}.make(a);
          return value ? filled(std::move(made), Scalar(*value)) : made;
        },
        py::arg("a"), py::arg("dtype") = py::none(), py::arg("order") = "K", py::kw_only(),
        py::arg("shape") = py::none(), py::arg("device") = py::none(), doc);
  };
  def("empty_like", std::nullopt, "Uninitialised, with the shape, dtype, device and order of axes of `a`.");
  def("zeros_like", 0, "Zeros, with the shape, dtype, device and order of axes of `a`.");
  def("ones_like", 1, "Ones, with the shape, dtype, device and order of axes of `a`.");
  module.def(
      "full_like",
      [](const Array& a, py::handle fill_value, py::object dtype, std::string order, py::object shape,
         py::object device) {
        const Array made = Like{std::move(dtype), std::move(shape), std::move(device), std::move(order)}.make(a);
        assign(made, fill_value.ptr());
        return made;
      },
      py::arg("a"), py::arg("fill_value"), py::arg("dtype") = py::none(), py::arg("order") = "K", py::kw_only(),
      py::arg("shape") = py::none(), py::arg("device") = py::none(),
      "Filled with `fill_value`, with the shape, dtype, device and order of axes of `a`.");
}

Array eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k, py::handle dtype,
          const std::string& order, Device device) {
  const Shape shape{rows, columns.value_or(rows)};
  const Array matrix = filled(make_empty(shape, dtype_or(dtype, float64), order, device), Scalar(std::int64_t{0}));
  filled(matrix.diagonal(k), Scalar(std::int64_t{1}));
  return matrix;
}

}  // namespace

SW_BIND(array_create, 56) {
  bind_new(module);
  bind_like(module);
  module.def("eye", &eye, py::arg("N"), py::arg("M") = py::none(), py::arg("k") = 0, py::arg("dtype") = py::none(),
             py::arg("order") = "C", py::kw_only(), py::arg("device") = py::none(),
             "A matrix with ones on the k-th diagonal and zeros elsewhere.");
}

}  // namespace spanwise::python
