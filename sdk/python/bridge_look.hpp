// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>

#include "bridge_interface.hpp"
#include "spanwise/bridge.hpp"

/// What Bridge::look() of libraries without a C interface reads: attributes, and no error.
namespace spanwise::python {

/// x.<name>, a tuple of integers, written to `room`; their number, or -1 where it is anything else
/// or too long. Leaves no Python error.
int look_at_integers(PyObject* object, const Name& name, std::span<std::int64_t> room) noexcept;

/// x.<name> as int() takes it, an address; 0 where it is none, or null. Leaves no Python error.
std::uintptr_t look_at_address(PyObject* object, const Name& name) noexcept;

/// Shape, strides in bytes and dtype of an array that has them as NumPy's do, into `memory`. False
/// where they are anything else. `is_packed` says that it lies in C order, where the strides follow
/// from the shape: some libraries make a tuple of them at each look. Leaves no Python error.
bool look_at_layout(PyObject* array, OpenMemory& memory, bool is_packed = false) noexcept;

}  // namespace spanwise::python
