// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise::python {

/// The array itself if it is on the CPU, else a complete copy there. Waits without the GIL.
Array on_host(const Array& array);

/// Whether the host may read and write the elements without waiting: CPU memory that no stream
/// uses.
inline bool no_pending_work(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

/// The one element of an array of size 1. Throws LayoutError. Waits without the GIL.
Scalar item_of(const Array& array);
/// The one element as a new Python bool, int, float or complex. Throws LayoutError for other sizes,
/// DTypeError for dtypes without a Python number. Waits without the GIL.
PyObject* python_number(const Array& array);

/// The array as a numpy.ndarray: shares memory on the CPU, copies from a GPU. Throws DTypeError if
/// has_numpy_dtype() is false.
pybind11::object to_numpy(const Array& array);

}  // namespace spanwise::python
