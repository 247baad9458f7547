// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/array.hpp"

/// What bridges to single libraries need of DLPack; the DLPack bridge defines it.
namespace spanwise::python {

/// `array` as an object of the library whose `type` offers DLPack's C exchange API; null (no Python
/// error) where it offers none. The library's current stream comes after our queued work.
pybind11::object wrap_through_exchange(PyTypeObject* type, const Array& array);

/// An object with __dlpack__ and __dlpack_device__ that gives `array` to consumers whose arrays
/// cannot be written to: without version, and whether or not it is read-only.
pybind11::object as_immutable_producer(const Array& array);

}  // namespace spanwise::python
