// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "spanwise/core/array.hpp"
#include "spanwise/core/scalar.hpp"

/// The steps of a copy. Arrays must be non-empty, targets writable, and source and target must not
/// overlap. Work is ordered after earlier uses of the arrays and queued on the current streams.
namespace spanwise::runtime {

/// Views of two arrays of one dtype that every back end can copy: a dtype that is not computable
/// becomes an unsigned integer of its width, or uint8 with an additional last axis. Other arrays
/// are returned unchanged.
std::pair<Array, Array> as_computable(const Array& source, const Array& target);

/// Copies and casts between arrays of equal shape on one device.
void copy_on_device(const Array& source, const Array& target);

/// Fills `target`; `value` must have its dtype.
void fill_on_device(const Array& target, const Scalar& value);

/// Copies and casts between any devices; `source` broadcasts to `target`'s shape.
void copy_anywhere(const Array& source, const Array& target);

}  // namespace spanwise::runtime
