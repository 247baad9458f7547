// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "spanwise/dtype.hpp"

/// DTypes among Python's, NumPy's and other libraries' names for them. dtype_from(), which throws
/// for what it does not know, is in support/array.hpp.
namespace spanwise::python {

/// The DType in a spanwise.dtype object; null where `object` is something else or was not
/// initialised.
const DType* dtype_in(pybind11::handle object) noexcept;

/// As dtype_from(), or nothing. Never leaves a Python error set.
std::optional<DType> try_dtype_from(pybind11::handle object) noexcept;

/// The dtype of an operation on what was added, by NumPy 2's rule: a Python number changes the kind
/// where it must and never the width. Of nothing at all float64.
class Promotion {
 public:
  void add(DType dtype) { dtypes_.push_back(dtype); }
  /// False, and nothing is added, where `object` is no Python number.
  bool add_number(PyObject* object);
  DType result() const;

 private:
  std::vector<DType> dtypes_;
  int weak_ = 0;  // the highest kind of number
};

/// Throws DTypeError in the name of `who` unless NumPy's rule `casting` ("safe", ...) allows the
/// cast, ArgumentError where there is no such rule.
void check_casting(DType from, DType to, const std::string& casting, const char* who);

/// PEP 3118's format of one element, as NumPy writes it; null where there is none (bfloat16, ...).
const char* buffer_format(DType dtype) noexcept;

/// False where neither NumPy nor (for bfloat16 and narrower floats) an installed ml_dtypes has it.
bool has_numpy_dtype(DType dtype);
/// The numpy.dtype. Throws DTypeError naming what to install where has_numpy_dtype() is false.
pybind11::object numpy_dtype(DType dtype);

}  // namespace spanwise::python
