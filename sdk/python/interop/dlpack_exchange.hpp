// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "spanwise/bridge.hpp"
#include "spanwise/core/array.hpp"

/// The functions of the DLPack bridge that the bridges to single libraries use.
namespace spanwise::dlpack {

struct ExchangeApi;

/// DLPack's C exchange API of a type (`__dlpack_c_exchange_api__`), or null. Valid as long as the
/// type. Leaves no Python error.
const ExchangeApi* exchange_api_of(PyTypeObject* type) noexcept;

}  // namespace spanwise::dlpack

namespace spanwise::python {

/// Reads the non-owning tensor of `object` through its type's exchange API. Returns false if there
/// is none, or its memory is neither on the host nor on a GPU. Only for libraries whose objects
/// keep their memory as long as they live: the API guarantees it only until the caller returns.
/// Does not set memory.readonly, which the API does not provide. Leaves no Python error.
bool try_describe_through_exchange(const dlpack::ExchangeApi& api, PyObject* object,
                                   BorrowedTensor& memory) noexcept;

/// Sets memory.stream to the library's current stream on memory.device. Returns false if the API
/// does not provide it. Leaves no Python error.
bool try_describe_stream(const dlpack::ExchangeApi& api, BorrowedTensor& memory) noexcept;

/// Whether `stream`, the library's current stream on GPU `ordinal`, lives as long as the process.
/// Streams here are encoded as in the CUDA Array Interface. Leaves no Python error.
using IsPersistentStream = bool (*)(std::uintptr_t stream, int ordinal) noexcept;

/// `array` as an object of the library that has the exchange API. The library's current stream
/// waits for the work queued on the array. If `is_persistent_stream` is true for that stream, later
/// uses of the memory, after the object is destroyed, wait for the work on the stream.
pybind11::object wrap_through_exchange(const dlpack::ExchangeApi& api, const Array& array,
                                       IsPersistentStream is_persistent_stream);

/// For a library that gets `array`: makes its current stream `stream` wait for the work queued on
/// the array, and records the stream as a user of the array if it lives as long as the process.
void order_library_stream(std::uintptr_t stream, const Array& array);

/// An object with __dlpack__ and __dlpack_device__ for consumers whose arrays are immutable: it
/// exports an unversioned tensor of `array`, also if `array` is read-only.
pybind11::object as_immutable_producer(const Array& array);

}  // namespace spanwise::python
