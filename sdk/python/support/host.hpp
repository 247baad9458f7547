// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/core/array.hpp"

namespace spanwise::python {

/// The array itself if it is on the CPU, else a complete copy there. Waits without the GIL.
Array on_host(const Array& array);

/// Whether the host may read and write the elements without waiting: CPU memory that no stream
/// uses.
inline bool no_pending_work(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

/// The one element as a Python bool, int, float or complex. Throws LayoutError for other sizes,
/// DTypeError for dtypes without a Python number. Waits without the GIL.
pybind11::object python_number(const Array& array);

/// The array as a numpy.ndarray: shares memory on the CPU, copies from a GPU. Throws DTypeError if
/// has_numpy_dtype() is false.
pybind11::object to_numpy(const Array& array);

}  // namespace spanwise::python
