// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "spanwise/array.hpp"
#include "spanwise/bridge.hpp"

/// What bridges to single libraries need of DLPack; the DLPack bridge defines it.
namespace spanwise::dlpack {

struct ExchangeApi;

/// DLPack's C exchange API of a type (`__dlpack_c_exchange_api__`), or null; leaves no Python
/// error. A type keeps it as long as it lives.
const ExchangeApi* exchange_api_of(PyTypeObject* type) noexcept;

}  // namespace spanwise::dlpack

namespace spanwise::python {

/// Reads the tensor that `object` lends through its type's exchange API; false (no Python error)
/// where it does not, or where its memory is neither the host's nor a GPU's. For libraries whose
/// objects keep their memory: the API alone promises it until the caller returns only. What the API
/// does not say has to be asked for: whether the memory is for reading only.
bool look_through_exchange(const dlpack::ExchangeApi& api, PyObject* object,
                           BorrowedTensor& memory) noexcept;

/// Fills `stream` with the one that the library works on now; for memory on a host or a GPU that
/// was found otherwise. False (no Python error) where the API does not tell.
bool look_at_stream(const dlpack::ExchangeApi& api, BorrowedTensor& memory) noexcept;

/// Whether a stream of a library, counted as the CUDA Array Interface counts them, lives as long as
/// the process; on the GPU of this number it is the current one. Leaves no Python error.
using StreamStays = bool (*)(std::uintptr_t stream, int ordinal) noexcept;

/// `array` as an object of the library whose type offers the exchange API. Its current stream comes
/// after our queued work, and where that stream stays, what uses the memory once the object has
/// gone comes after the work on it.
pybind11::object wrap_through_exchange(const dlpack::ExchangeApi& api, const Array& array,
                                       StreamStays stream_stays);

/// Makes the stream of a library that is given `array`, counted as the CUDA Array Interface counts
/// them, come after our queued work on it; what it does afterwards is remembered where the stream
/// lives as long as the process.
void order_library(std::uintptr_t stream, const Array& array);

/// An object with __dlpack__ and __dlpack_device__ that gives `array` to consumers whose arrays
/// cannot be written to: without version, and whether or not it is read-only.
pybind11::object as_immutable_producer(const Array& array);

}  // namespace spanwise::python
