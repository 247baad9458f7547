// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>

#include "spanwise/core/dtype.hpp"

/// The dtype of a Python number as an operand, for arrays and for variables of graphs.
namespace spanwise::python {

/// The kinds of Python numbers, in ascending order of promotion.
enum class NumberKind { none, bool_, int_, float_, complex };

/// By exact type (except bool): NumPy's scalars derive from Python's, but have a dtype.
inline NumberKind number_kind(PyObject* object) noexcept {
  if (PyFloat_CheckExact(object)) return NumberKind::float_;
  if (PyLong_CheckExact(object)) return NumberKind::int_;
  if (PyBool_Check(object)) return NumberKind::bool_;
  return PyComplex_CheckExact(object) ? NumberKind::complex : NumberKind::none;
}

/// Whether the object is a Python number, whose dtype depends on the other operands.
inline bool is_weak_number(PyObject* object) noexcept {
  return number_kind(object) != NumberKind::none;
}

/// The dtype of a Python number next to operands of dtype `strong`, if there are any, by NumPy 2's
/// rule (NEP 50): the number may raise the kind, never the width. `default_float` is the dtype of
/// a float alone or next to bools and integers: float64, in graphs config "floatX".
inline DType number_dtype(NumberKind number, std::optional<DType> strong,
                          DType default_float = float64) {
  const bool is_inexact = strong && (strong->is_floating() || strong->is_complex());
  switch (number) {
    case NumberKind::int_:
      return strong && !strong->is_bool() ? *strong : int64;
    case NumberKind::float_:
      return is_inexact ? *strong : default_float;
    case NumberKind::complex:
      if (strong && strong->is_complex()) return *strong;
      return is_inexact && *strong != float64 ? complex64 : complex128;
    default:
      return bool_;
  }
}

}  // namespace spanwise::python
