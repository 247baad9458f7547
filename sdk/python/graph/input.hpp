// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "spanwise/graph/type.hpp"

namespace spanwise::python {

/// Which conversions to its dtype an input allows (Theano's In(strict=, allow_downcast=)).
struct InputRule {
  /// Accepts only arrays (of any library) of exactly the dtype: no numbers, lists or casts.
  bool strict = false;
  /// true: any cast; false: only safe casts; not set: safe casts, and Python floats to narrower
  /// floats.
  std::optional<bool> allow_downcast{};
};

/// An array of any library, a number, or nested lists of numbers as an array of `type`'s dtype.
/// Shape and device are checked by the function. Throws InputError with the reason, and the errors
/// of import_array(). Needs the GIL.
Array input_from(pybind11::handle value, const TensorType& type, const InputRule& rule);

}  // namespace spanwise::python
