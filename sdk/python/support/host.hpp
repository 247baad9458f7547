// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

namespace spanwise::python {

/// The array on the CPU: itself, or a copy that is complete when this returns. Waits without the
/// GIL.
Array on_host(const Array& array);

/// Whether the elements may be read and written at once: memory of the host's own, on which no
/// device has work queued.
inline bool no_pending_work(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

/// The one element of an array of size 1. Throws LayoutError. Waits without the GIL.
Scalar item_of(const Array& array);
/// The same as a new bool, int, float or complex. Throws DTypeError where the dtype has no Python
/// number.
PyObject* number_of(const Array& array);

/// The array as a numpy.ndarray: shares memory on the CPU, copies from a GPU. Throws DTypeError
/// where no installed library gives NumPy the dtype.
pybind11::object to_numpy(const Array& array);

}  // namespace spanwise::python
