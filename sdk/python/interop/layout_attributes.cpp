// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "layout_attributes.hpp"

#include <optional>

#include "python/support/numpy_descriptor.hpp"

namespace spanwise::python {

bool read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                 bool is_packed) noexcept {
  const pybind11::object dtype = attributes.dtype.of(array);
  const std::optional<DType> native = dtype ? native_numpy_dtype(dtype.ptr()) : std::nullopt;
  if (!native) return false;
  const auto scratch = std::span(memory.scratch);
  memory.rank = read_integers(array, attributes.shape, scratch.first(max_rank));
  memory.dtype = *native;
  memory.shape = scratch.data();
  if (memory.rank < 0 || is_packed) return memory.rank >= 0;
  memory.strides = scratch.data() + max_rank;
  return read_integers(array, attributes.strides, scratch.last(max_rank)) == memory.rank;
}

}  // namespace spanwise::python
