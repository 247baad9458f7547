// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstdint>
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

/// The legacy default stream, as encoded by the CUDA Array Interface.
inline constexpr std::uintptr_t legacy_stream = 1;

/// A CUstream in that encoding: the null stream is the legacy default stream.
inline std::uintptr_t interface_stream(std::uintptr_t handle) noexcept {
  return handle == 0 ? legacy_stream : handle;
}

/// The current stream on GPU `ordinal` of the library of `object`, encoded as in the CUDA Array
/// Interface; 0 if the library is unknown or does not provide it. Imports no module and leaves no
/// Python error.
std::uintptr_t current_stream_of_library(PyObject* object, int ordinal) noexcept;

}  // namespace spanwise::python
