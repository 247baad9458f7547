// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/export.hpp"

// Those of dlpack.h, whichever version of it the program includes.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace spanwise {

/// `array` as a managed tensor of DLPack 1.3 that shares its memory. The caller owes one call of
/// its deleter, on any thread; until then the memory lives. `copied` sets the flag that tells the
/// consumer that nobody else has the memory. Nothing waits for work queued on a GPU: order the
/// consumer's stream with order_use().
SW_API DLManagedTensorVersioned* to_dlpack(const Array& array, bool copied = false);
/// The same before version 1.0, which knows no read-only memory: throws SharingError for such an
/// array.
SW_API DLManagedTensor* to_dlpack_unversioned(const Array& array);

/// An Array that shares the tensor's memory, or (if_needed) copies what a Layout cannot describe.
/// The tensor belongs to this call at once: its deleter is called exactly once, here where this
/// throws, otherwise when the last array goes and our queued work has passed. Throws BridgeError
/// for a tensor of another major version, an unknown device, or a description that cannot be true;
/// DTypeError; SharingError under CopyMode::never. A GPU tensor must be ready on the current
/// stream.
SW_API Array from_dlpack(DLManagedTensorVersioned* tensor, CopyMode mode = CopyMode::if_needed);
SW_API Array from_dlpack(DLManagedTensor* tensor, CopyMode mode = CopyMode::if_needed);

}  // namespace spanwise
