// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {

/// When an operation may copy: the three values of `copy` in the array API and DLPack.
enum class CopyMode {
  never,      ///< copy=False: share or throw CopyNeededError
  if_needed,  ///< copy=None
  always,     ///< copy=True
};

/// Writes every element of `source` to `target`, for any layouts, dtypes (cast as NumPy's astype
/// with casting="unsafe") and devices; overlapping arrays are handled as if `source` were read
/// first. `source` is broadcast to `target`'s shape. Throws LayoutError, DTypeError, ReadOnlyError.
///
/// Copies within a GPU, between GPUs and from pinned memory are queued on the current stream and
/// return at once. A copy from pageable host memory returns when the source may be changed; a copy
/// to host memory returns when the data has arrived.
SW_API void copy(const Array& source, const Array& target);
/// Sets every element to `value`, cast to the target's dtype. On a GPU queued on the current
/// stream. Throws ReadOnlyError, DTypeError.
SW_API void fill(const Array& target, const Scalar& value);

/// A new array with the same elements in C order, on the same device (on the CPU for pinned and
/// managed memory).
SW_API Array copy(const Array& source);
/// The same elements as `dtype`. Shares memory with `source` only where the dtypes are equal and
/// `mode` is not always. Throws CopyNeededError where `mode` is never and the dtypes differ.
SW_API Array astype(const Array& source, DType dtype, CopyMode mode = CopyMode::always);
/// The same elements on `device`; shares memory where `source` is on it and `mode` is not always.
/// Throws CopyNeededError where `mode` is never and they must be moved. A GPU result is ready in
/// the order of the current stream.
SW_API Array to_device(const Array& source, Device device, CopyMode mode = CopyMode::if_needed);
/// The elements in C order: the array itself where it is C-contiguous and `mode` is not always,
/// else a copy. Throws CopyNeededError where `mode` is never and a copy is needed.
SW_API Array contiguous(const Array& source, CopyMode mode = CopyMode::if_needed);
/// NumPy's reshape in C order: a view where the strides allow it and `mode` is not always, else a
/// copy. Throws CopyNeededError where `mode` is never and a copy is needed, LayoutError.
SW_API Array reshape(const Array& source, const Shape& shape, CopyMode mode = CopyMode::if_needed);
/// The element of an array of size 1; waits for queued work on it. Throws LayoutError for another
/// size, DTypeError for elements above 16 bytes.
SW_API Scalar item(const Array& array);

}  // namespace spanwise
