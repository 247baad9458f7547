// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstdint>

namespace spanwise::python {

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
