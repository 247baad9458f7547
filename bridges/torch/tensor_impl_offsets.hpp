// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Reads two words of the C++ object behind a torch.Tensor.
namespace spanwise::python {

/// A tensor's dispatch keys, which show among other things whether it is lazily conjugated or
/// negated, and its pointer to autograd's data. PyTorch's own functions take a call for each, and
/// one of them releases and reacquires the GIL.
///
/// PyTorch does not guarantee their offsets. Therefore the offsets are searched in this process, in
/// sample tensors for which PyTorch's own functions give the values; if exactly one offset matches
/// all samples it is used, otherwise none. README.md has details.
class TensorImplOffsets {
 public:
  /// The offsets, searched at the first call, before which torch must be imported; null if they are
  /// not found. Leaves no Python error. Needs the GIL.
  static const TensorImplOffsets* get_if_usable() noexcept;

  /// The tensor's dispatch keys. For this and the following functions, `tensor` must be exactly of
  /// class torch.Tensor.
  std::uint64_t keys(PyObject* tensor) const noexcept { return word(tensor, keys_); }
  /// True if the tensor does not require gradients; false if it may.
  bool is_unknown_to_autograd(PyObject* tensor) const noexcept {
    return word(tensor, autograd_) == 0;
  }

 private:
  class Search;

  static const std::byte* impl_of(PyObject* tensor) noexcept {
    const std::byte* impl;
    std::memcpy(&impl, reinterpret_cast<const std::byte*>(tensor) + sizeof(PyObject), sizeof impl);
    return impl;
  }
  static std::uint64_t word(PyObject* tensor, std::size_t offset) noexcept {
    std::uint64_t value;
    std::memcpy(&value, impl_of(tensor) + offset * sizeof value, sizeof value);
    return value;
  }

  std::size_t keys_ = 0, autograd_ = 0;  // in words from the object's start
};

}  // namespace spanwise::python
