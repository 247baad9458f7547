// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "runtime/backend.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/storage.hpp"

namespace spanwise::runtime {

/// allocate() of creation.hpp on the given stream, which becomes the producer: the memory is usable
/// there at once and is freed there after all work on it.
Storage allocate_on(StreamState& stream, std::size_t bytes);

/// An uninitialised dense array with the shape of `like` and its order of axes by stride.
Array empty_like(const Array& like, DType dtype, Device device);
/// An uninitialised dense array on the CPU for a copy of `source`, with its shape and its order of
/// axes by stride; page-locked where that makes the copy faster.
Array empty_on_host(const Array& source, DType dtype);

}  // namespace spanwise::runtime
