// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/array.hpp"
#include "spanwise/export.hpp"
#include "spanwise/scalar.hpp"
#include "spanwise/stream.hpp"

namespace spanwise {

/// When an operation may copy: the three words of the array API and DLPack.
enum class CopyMode {
  never,      ///< copy=False: share or throw CopyNeededError
  if_needed,  ///< copy=None
  always,     ///< copy=True
};

/// Writes every element of `source` to `target`: any layouts, dtypes (cast as NumPy's astype,
/// casting="unsafe") and devices; right where the two overlap. `source` is broadcast to `target`'s
/// shape. Throws LayoutError, DTypeError, ReadOnlyError.
///
/// Within a GPU and from pinned memory this queues on the current stream and returns. From pageable
/// host memory it returns when the source may be changed; to host memory, when the data is there.
SW_API void copy(const Array& source, const Array& target);
/// Sets every element. Queued on the current stream. Throws ReadOnlyError.
SW_API void fill(const Array& target, const Scalar& value);

/// A new array with the same elements in C order.
SW_API Array copy(const Array& source);
/// The same elements as `dtype`; shares with `source` only under CopyMode::if_needed or never and
/// equal dtype. Throws CopyNeededError under never.
SW_API Array astype(const Array& source, DType dtype, CopyMode mode = CopyMode::always);
/// The same elements on `device`; shares where it is there already and `mode` allows. A GPU result
/// is ordered on the current stream.
SW_API Array to_device(const Array& source, Device device, CopyMode mode = CopyMode::if_needed);
/// C-contiguous: the array itself where it is, else a copy, else (never) CopyNeededError.
SW_API Array contiguous(const Array& source, CopyMode mode = CopyMode::if_needed);
/// NumPy's reshape in C order: a view where the strides allow, else by `mode`.
SW_API Array reshape(const Array& source, const Shape& shape, CopyMode mode = CopyMode::if_needed);
/// The one element of a size-1 array, on the host. Throws LayoutError otherwise.
SW_API Scalar item(const Array& array);

}  // namespace spanwise
