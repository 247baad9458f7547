// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/python_values.hpp"

#include <pybind11/pybind11.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/bridge_kit.hpp"

namespace spanwise::python {

namespace py = pybind11;

void unpack_slice(PyObject* slice, Py_ssize_t& start, Py_ssize_t& stop, Py_ssize_t& step) {
  if (PySlice_Unpack(slice, &start, &stop, &step) >= 0) [[likely]]
    return;
  PyObject* given = reinterpret_cast<PySliceObject*>(slice)->step;
  // Another ValueError is one of an __index__.
  if (!PyLong_Check(given) || PyObject_IsTrue(given) != 0) throw py::error_already_set();
  PyErr_Clear();
  fail<ArgumentError>("Array: the step of a slice cannot be 0, got ", std::string(py::repr(slice)));
}

namespace {

[[noreturn]] void throw_overflow(PyObject* number, DType dtype) {
  PyErr_Format(
      PyExc_OverflowError,
      "spanwise: the number %R does not fit in %s; assign an array, which wraps around, or "
      "choose a wider dtype",
      number, dtype.name().c_str());
  throw py::error_already_set();
}

Scalar integer_from_int(PyObject* number, DType dtype) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow == 0) {
    const Scalar scalar(static_cast<std::int64_t>(value));
    if (!scalar.fits(dtype)) throw_overflow(number, dtype);
    return scalar.cast(dtype);
  }
  if (overflow < 0 || dtype != uint64) throw_overflow(number, dtype);
  const unsigned long long large = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw_overflow(number, dtype);
  }
  return Scalar(static_cast<std::uint64_t>(large)).cast(dtype);
}

Scalar integer_from_float(PyObject* number, DType dtype) {
  const double value = PyFloat_AsDouble(number);
  if (std::isnan(value))
    fail<ArgumentError>("spanwise: NaN cannot become an element of dtype ", dtype,
                        "; choose a floating dtype or replace the value");
  if (std::isinf(value)) throw_overflow(number, dtype);
  return integer_from_int(owned(PyLong_FromDouble(value)).ptr(), dtype);
}

double real_part(PyObject* number) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

}  // namespace

Scalar scalar_from(PyObject* number, DType dtype) {
  if (!dtype.is_computable())
    fail<DTypeError>("spanwise: a number cannot be converted to ", dtype,
                     ", which is carried but not computed on; assign an array of that dtype");
  if (dtype.is_bool()) return Scalar(truth_or(number, false));
  if (PyComplex_Check(number)) {
    if (!dtype.is_complex())
      fail<DTypeError>("spanwise: a complex number cannot become an element of dtype ", dtype,
                       "; take its .real, or choose a complex dtype");
    const Py_complex value = PyComplex_AsCComplex(number);
    return Scalar(std::complex<double>(value.real, value.imag)).cast(dtype);
  }
  if (dtype.is_integer()) {
    return PyFloat_Check(number) ? integer_from_float(number, dtype)
                                 : integer_from_int(number, dtype);
  }
  return Scalar(real_part(number)).cast(dtype);
}

namespace {

[[noreturn]] void refuse(py::handle object) {
  fail<DTypeError>("shape: expected an int or a sequence of ints, got ",
                   std::string(py::repr(object)));
}

[[noreturn]] void refuse_rank() {
  fail<LayoutError>("shape: expected at most ", max_rank, " dimensions, got more");
}

std::int64_t extent_from(PyObject* item, py::handle whole) {
  if (PyLong_CheckExact(item)) return integer_from(item);
  if (!PyIndex_Check(item) || PyBool_Check(item)) refuse(whole);
  return integer_from(item);
}

Shape from_iterable(py::handle object) {
  const auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) {
    clear_conversion_error();
    refuse(object);
  }
  std::vector<std::int64_t> extents;
  while (const auto item = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()))) {
    // Checked here, since an iterator may be infinite.
    if (extents.size() == max_rank) refuse_rank();
    extents.push_back(extent_from(item.ptr(), object));
  }
  if (PyErr_Occurred()) throw py::error_already_set();
  return Shape(std::span<const std::int64_t>(extents));
}

}  // namespace

Shape shape_from(py::handle object) {
  if (PyLong_CheckExact(object.ptr())) return Shape(1, integer_from(object.ptr()));
  if (PyTuple_Check(object.ptr())) {
    const Py_ssize_t rank = PyTuple_GET_SIZE(object.ptr());
    if (rank > max_rank) refuse_rank();
    Shape shape(static_cast<int>(rank));
    for (int i = 0; i < shape.size(); ++i) {
      shape[i] = extent_from(PyTuple_GET_ITEM(object.ptr(), i), object);
    }
    return shape;
  }
  if (PyIndex_Check(object.ptr()) && !has_length(object.ptr())) {
    return Shape{extent_from(object.ptr(), object)};
  }
  return from_iterable(object);
}

}  // namespace spanwise::python
