// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "spanwise/device.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::python {

/// Any library's stream as one of ours on `device`. An object that owns its stream is held by the
/// result and by arrays that were used on it; where the stream is another's (an integer handle, an
/// ExternalStream), it must live as long as the result. Accepts a spanwise.Stream, None (the
/// thread's current stream), an integer handle, and objects with __cuda_stream__ (cuda.core),
/// cuda_stream (PyTorch), ptr (CuPy) or handle (Numba, PyCUDA). Throws ArgumentError for the
/// integer 0, for a stream of another device and for anything else. Needs the GIL.
Stream stream_from(pybind11::handle object, Device device);

}  // namespace spanwise::python
