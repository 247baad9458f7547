// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/runtime/copy.hpp"

// Defined by the version of dlpack.h that the program includes.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace spanwise {

/// Exports `array` as a managed tensor of DLPack 1.3 that shares its memory. The caller must call
/// its deleter once, on any thread; the memory lives until then. `copied` sets
/// DLPACK_FLAG_BITMASK_IS_COPIED: the consumer may write, since no other code uses the memory. Does
/// not wait for queued GPU work: order the consumer's stream with order_use().
SW_API DLManagedTensorVersioned* to_dlpack(const Array& array, bool copied = false);
/// The same for DLPack before 1.0, which has no read-only flag: throws SharingError for a read-only
/// array.
SW_API DLManagedTensor* to_dlpack_unversioned(const Array& array);

/// Imports a tensor as an Array that shares its memory; under if_needed copies a tensor that a
/// Layout cannot describe. Takes ownership of the tensor: its deleter is called exactly once, here
/// if this throws, else when the last array is destroyed and the queued work on it is done. Throws
/// BridgeError for another major version, an unknown device or an invalid description; DTypeError;
/// SharingError under CopyMode::never. A GPU tensor must be ready on the current stream.
SW_API Array from_dlpack(DLManagedTensorVersioned* tensor, CopyMode mode = CopyMode::if_needed);
SW_API Array from_dlpack(DLManagedTensor* tensor, CopyMode mode = CopyMode::if_needed);

}  // namespace spanwise
