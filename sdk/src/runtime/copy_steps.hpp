// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "spanwise/core/array.hpp"

namespace spanwise::runtime {

/// Whether every offset from the lowest to the highest belongs to exactly one element, in any order
/// of axes: a plain copy of bytes can move such an array.
bool is_dense(const Layout& layout);

/// Views of two arrays of one dtype that every back end can copy: a dtype that is not computable
/// becomes an unsigned integer of its width, or uint8 with an additional last axis. Other arrays
/// are returned unchanged.
std::pair<Array, Array> as_computable(const Array& source, const Array& target);

}  // namespace spanwise::runtime
