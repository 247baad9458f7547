// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace spanwise::python {

/// A tuple of the integers, each multiplied by `factor`: 1 for a shape, the itemsize for strides in
/// bytes.
inline pybind11::tuple integer_tuple(std::span<const std::int64_t> values,
                                     std::int64_t factor = 1) {
  pybind11::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(values[i] * factor);
    if (number == nullptr) throw pybind11::error_already_set();
    PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), number);
  }
  return result;
}

}  // namespace spanwise::python
