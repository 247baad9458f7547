// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dlpack_abi.hpp"
#include "spanwise/array.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/export.hpp"

/// Arrays to DLPack's tensors and back, without Python.
namespace spanwise::dlpack {

/// A new managed tensor; see spanwise::to_dlpack().
SW_API ManagedTensorVersioned* exported(const Array& array, std::uint64_t extra_flags = 0);
/// The same without version, and so without the read-only bit: the caller has seen to it.
SW_API ManagedTensor* exported_unversioned(const Array& array);
/// A description that points into `array`, which has to outlive it.
SW_API Tensor borrowed(const Array& array) noexcept;

/// Calls the deleter that the tensor in `context` has, if any; a ReleaseFn.
SW_API void release_versioned(void* context, void*, std::size_t, StreamUses&) noexcept;
SW_API void release_unversioned(void* context, void*, std::size_t, StreamUses&) noexcept;

/// The tensor as a view that owns it: `release` (which gets the tensor as its context) is called
/// exactly once, also where this throws.
SW_API ForeignView view_of(ManagedTensorVersioned* tensor, ReleaseFn release);
SW_API ForeignView view_of(ManagedTensor* tensor, ReleaseFn release);

/// A borrowed tensor in the host's or a GPU's memory, read without an error; false for what else
/// there is. The stream and whether it is read-only are left as they are.
SW_API bool look_at(const Tensor& tensor, BorrowedTensor& memory) noexcept;

/// What a prototype of the exchange API asks for: dtype, shape and device. Throws as view_of().
SW_API ForeignMemory memory_of(const Tensor& tensor, bool padded);

SW_API TensorDevice device_of(const Array& array) noexcept;
/// Throws BridgeError for memory that Spanwise does not know, naming it.
SW_API Device device_from(TensorDevice device);

}  // namespace spanwise::dlpack
