// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "spanwise/core/dtype.hpp"

/// Conversion of DTypes from and to Python's and NumPy's dtypes. dtype_from(), which throws for an
/// unknown dtype, is in array/array_object.hpp.
namespace spanwise::python {

/// The object struct of spanwise.dtype.
struct PyDType {
  PyObject_HEAD
  DType dtype;
};
/// The type object; set by module initialisation, constant afterwards.
extern PyTypeObject* dtype_type;

/// The DType in a spanwise.dtype object; null for other objects.
inline const DType* dtype_in(pybind11::handle object) noexcept {
  if (Py_TYPE(object.ptr()) != dtype_type) return nullptr;
  return &reinterpret_cast<PyDType*>(object.ptr())->dtype;
}

/// As dtype_from(), but nothing for an unknown dtype. Leaves no Python error.
std::optional<DType> try_dtype_from(pybind11::handle object) noexcept;

/// The result dtype of an operation on the added dtypes and Python numbers, by NumPy 2's rule (NEP
/// 50): a Python number may change the kind, but not the width within a kind. float64 if nothing
/// was added.
class Promotion {
 public:
  void add(DType dtype) { dtypes_.push_back(dtype); }
  /// Returns false, and adds nothing, if `object` is no Python number.
  bool try_add_number(PyObject* object);
  DType result() const;

 private:
  std::vector<DType> dtypes_;
  int weak_ = 0;  // the highest kind (NumberKind) of the added numbers
};

/// NumPy's rule for casts, a str. Throws ArgumentError for another object.
Casting casting_from(PyObject* rule);
/// Throws DTypeError, whose message names the function `caller`, unless NumPy's rule `casting`
/// ("safe", ...) allows the cast; ArgumentError for an unknown rule.
void check_casting(DType from, DType to, const std::string& casting, const char* caller);

/// The buffer protocol's (PEP 3118) format of one element, as NumPy writes it; null for dtypes that
/// have none (bfloat16, ...).
const char* buffer_format(DType dtype) noexcept;

/// Whether NumPy or (for bfloat16 and narrower floats) an installed ml_dtypes has the dtype.
bool has_numpy_dtype(DType dtype);
/// The numpy.dtype. Throws DTypeError, which names the package to install, if has_numpy_dtype() is
/// false.
pybind11::object numpy_dtype(DType dtype);

}  // namespace spanwise::python
