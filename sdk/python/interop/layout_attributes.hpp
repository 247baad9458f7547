// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attributes.hpp"
#include "spanwise/bridge.hpp"

namespace spanwise::python {

/// The attributes of one library's arrays that describe their layout, named as NumPy's.
struct LayoutAttributes {
  CachedAttribute shape{"shape"}, strides{"strides"}, dtype{"dtype"};
};

/// Sets shape, strides (bytes) and dtype of `memory` from the attributes. Returns false if they
/// have other types than NumPy's. With `is_packed` (C-contiguous) the strides are not read: some
/// libraries make a new tuple of them at each access. Leaves no Python error.
bool read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                 bool is_packed = false) noexcept;

}  // namespace spanwise::python
