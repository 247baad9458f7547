// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "spanwise/core/device.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::python {

/// A Stream on `device` for another library's stream. Accepts a spanwise.Stream, None (the thread's
/// current stream), an integer handle, and objects with __cuda_stream__ (cuda.core), cuda_stream
/// (PyTorch), ptr (CuPy) or handle (Numba, PyCUDA). The result, and arrays used on it, hold a
/// reference to an object that owns its stream. A stream that is not owned (an integer handle, an
/// ExternalStream) must outlive the result. Throws ArgumentError for the integer 0, a stream of
/// another device, and any other object. Needs the GIL.
///
/// Without `device` it is that of a spanwise.Stream, or of `device_index` (PyTorch) or `device_id`
/// (CuPy), else default_device().
Stream stream_from(pybind11::handle object, std::optional<Device> device);

}  // namespace spanwise::python
