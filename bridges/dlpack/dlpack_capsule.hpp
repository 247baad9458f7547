// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <utility>

#include "dlpack_abi.hpp"
#include "python/interop/exchange.hpp"
#include "python/support/gil.hpp"
#include "spanwise/bridge.hpp"

namespace spanwise::dlpack {

/// `release` for tensors from Python, whose deleter may need the GIL: it acquires the GIL itself
/// while the interpreter runs. After that it is not called, and the memory is freed with the
/// process.
template <auto release>
void release_python(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  if (!Py_IsInitialized() && !python::holds_gil()) return;
  release(context, data, bytes, uses);
}

/// The numbers of a tuple of two integers; nothing for other objects. Leaves no Python error.
std::optional<std::pair<long, long>> integer_pair_in(PyObject* object) noexcept;

/// Whether the object is a capsule with one of DLPack's names, used or not.
bool is_capsule(PyObject* object) noexcept;

/// Takes the tensor out of a capsule and marks the capsule as used. Throws ArgumentError for a used
/// capsule, BridgeError for other capsules.
ForeignView view_of_capsule(PyObject* capsule);

/// A capsule with a new managed tensor, which is deleted with the capsule if no consumer takes it.
/// Returns a new reference, or null with a Python error set if out of memory.
PyObject* capsule_of(const Array& array, bool versioned, std::uint64_t extra_flags = 0);

/// An object's tensor, by the exchange table of its type. Throws BridgeError if the object refuses.
ForeignView view_through(const ExchangeApi& api, PyObject* object);

/// The exchange table of spanwise.Array; lives as long as the process.
const ExchangeApi& exchange_api() noexcept;

}  // namespace spanwise::dlpack
