// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/bridge.hpp"

/// Which bridge serves which type of object. Asking the bridges costs attribute lookups; a type
/// that was served once is found again by the address of the type alone.
namespace spanwise::python {

/// The bridge that served an object of exactly this type before, or null.
const Bridge* bridge_of_type(PyTypeObject* type) noexcept;
/// Remembers it until the type goes. Best effort: without memory nothing is remembered.
void remember_bridge(PyTypeObject* type, const Bridge& bridge) noexcept;

}  // namespace spanwise::python
