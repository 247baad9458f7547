// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "spanwise/graph/type.hpp"

namespace spanwise::python {

/// How far a value may be from its input's dtype (Theano's In(strict=, allow_downcast=)).
struct InputRule {
  /// Neither converted nor imported: an array of exactly the dtype.
  bool strict = false;
  /// true: any dtype is cast; false: only where nothing can be lost; nothing said: a Python float
  /// also becomes a narrower float.
  std::optional<bool> allow_downcast{};
};

/// Any library's array, a number, or nested lists of numbers as an array of `type`'s dtype. Shape
/// and device are left to the function. Throws InputError with the reason, and what importing the
/// value throws. Needs the GIL.
Array input_from(pybind11::handle value, const TensorType& type, const InputRule& rule);

}  // namespace spanwise::python
