// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "dlpack_abi.hpp"
#include "python/interop/exchange.hpp"
#include "spanwise/bridge.hpp"

namespace spanwise::dlpack {

/// Whether the object is a capsule with one of DLPack's names, used or not.
bool is_capsule(PyObject* object) noexcept;

/// Takes the tensor out of a capsule, which is marked as used. Throws ArgumentError for one that
/// was used before, BridgeError for other capsules.
ForeignView view_of_capsule(PyObject* capsule);

/// A capsule around a new managed tensor; the tensor is given back where nobody takes it out. A new
/// reference; null with a Python error set where there is no memory.
PyObject* capsule_of(const Array& array, bool versioned, std::uint64_t extra_flags = 0);

/// An object's tensor through its type's exchange table. Throws BridgeError where it refuses.
ForeignView view_through(const ExchangeApi& api, PyObject* object);

/// Ours, for spanwise.Array; lives as long as the process.
const ExchangeApi& exchange_api() noexcept;

}  // namespace spanwise::dlpack
