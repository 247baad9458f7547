// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dlpack_abi.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

/// Converts arrays to DLPack tensors and back, without Python.
namespace spanwise::dlpack {

/// A new managed tensor; see spanwise::to_dlpack().
SW_API ManagedTensorVersioned* exported(const Array& array, std::uint64_t extra_flags = 0);
/// The same without a version, and so without the read-only flag: the caller must check that the
/// array is not read-only.
SW_API ManagedTensor* exported_unversioned(const Array& array);
/// A tensor that points into `array`, which must outlive it.
SW_API Tensor borrowed(const Array& array) noexcept;

/// A ReleaseFn: calls the deleter, if any, of the tensor in `context`.
SW_API void release_versioned(void* context, void*, std::size_t, StreamUses&) noexcept;
SW_API void release_unversioned(void* context, void*, std::size_t, StreamUses&) noexcept;

/// A view that owns the tensor: `release`, whose context is the tensor, is called exactly once,
/// also if this throws.
SW_API ForeignView view_of(ManagedTensorVersioned* tensor, ReleaseFn release);
SW_API ForeignView view_of(ManagedTensor* tensor, ReleaseFn release);

/// Reads a tensor in host or GPU memory without raising errors; false for anything else. Leaves
/// `stream` and `readonly` as they are.
SW_API bool try_describe(const Tensor& tensor, BorrowedTensor& memory) noexcept;

/// The memory that a prototype of the exchange API describes: dtype, shape and device. Throws as
/// view_of().
SW_API ForeignMemory memory_of(const Tensor& tensor, bool padded);

SW_API TensorDevice device_of(const Array& array) noexcept;
/// Throws BridgeError, with the name of the device, for devices that Spanwise does not support.
SW_API Device device_from(TensorDevice device);

}  // namespace spanwise::dlpack
