// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "python/interop/objects.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

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
  if (dtype.is_bool()) {
    const int truth = PyObject_IsTrue(number);
    if (truth < 0) throw py::error_already_set();
    return Scalar(truth == 1);
  }
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

py::object python_number(const Scalar& scalar) {
  const DType dtype = scalar.dtype();
  PyObject* number = nullptr;
  if (dtype.is_bool()) {
    number = PyBool_FromLong(scalar.as_int64() != 0);
  } else if (dtype == uint64) {
    std::uint64_t value = 0;
    std::memcpy(&value, scalar.data(), sizeof value);
    number = PyLong_FromUnsignedLongLong(value);
  } else if (dtype.is_integer() && dtype.is_computable()) {
    number = PyLong_FromLongLong(scalar.as_int64());
  } else if (dtype.is_complex() && dtype.is_computable()) {
    const Scalar wide = scalar.cast(complex128);
    double parts[2];
    std::memcpy(parts, wide.data(), sizeof parts);
    number = PyComplex_FromDoubles(parts[0], parts[1]);
  } else if (dtype.is_floating() && dtype.is_computable()) {
    number = PyFloat_FromDouble(scalar.as_double());
  } else {
    fail<DTypeError>(
        "spanwise: an element of dtype ", dtype,
        " is no Python number; convert with a.view() or with a library that supports the dtype");
  }
  return owned(number);
}

}  // namespace spanwise::python
