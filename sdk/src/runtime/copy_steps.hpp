// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "spanwise/array.hpp"
#include "spanwise/scalar.hpp"

/// The steps that copies are made of. Arrays have elements and are writable where written; source
/// and target share no byte. Work is ordered after earlier uses and queued on current streams.
namespace spanwise::runtime {

/// Views of two arrays of one dtype that every back end can copy: a dtype that is not computable
/// becomes unsigned integers of its width, or bytes on an axis of their own. Other arrays come back
/// as they are.
std::pair<Array, Array> as_computable(const Array& source, const Array& target);

/// Copies and casts; both are on one device, of equal shape.
void copy_on_device(const Array& source, const Array& target);

/// `value` has the target's dtype.
void fill_on_device(const Array& target, const Scalar& value);

/// Copies and casts between any devices; `source` broadcasts to `target`'s shape.
void copy_anywhere(const Array& source, const Array& target);

}  // namespace spanwise::runtime
