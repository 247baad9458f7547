// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstdint>

namespace spanwise::python {

/// The legacy default stream, as the CUDA Array Interface counts streams.
inline constexpr std::uintptr_t legacy_stream = 1;

/// The stream on which the library that `object` comes from queues its work on GPU `ordinal` now,
/// as the CUDA Array Interface counts them; 0 where the library is not known, or does not tell.
/// Imports nothing; leaves no Python error.
std::uintptr_t current_stream_of_library(PyObject* object, int ordinal) noexcept;

}  // namespace spanwise::python
