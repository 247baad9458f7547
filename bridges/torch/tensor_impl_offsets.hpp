// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Two words of the C++ object behind a torch.Tensor, read where it has them.
namespace spanwise::python {

/// A tensor's dispatch keys, which say among other things whether it is conjugated or negated
/// lazily, and whether autograd keeps anything about it. Asking PyTorch costs a call each, and for
/// the bits one that lets the GIL go and takes it again.
///
/// PyTorch promises no place for either. So the places are looked for in this process, in tensors
/// whose answers PyTorch's own functions give; where exactly one place agrees with all of them it
/// is used, else none. README.md tells which.
class TensorImplOffsets {
 public:
  /// The places, looked for at the first call, for which torch has to be imported; null where they
  /// were not found. Leaves no Python error. Needs the GIL.
  static const TensorImplOffsets* found() noexcept;

  /// Of objects of exactly the class torch.Tensor only, as all that follows.
  std::uint64_t keys(PyObject* tensor) const noexcept { return word(tensor, keys_); }
  /// True says for certain that the tensor does not require gradients; false says nothing.
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
  static std::uint64_t word(PyObject* tensor, std::size_t place) noexcept {
    std::uint64_t value;
    std::memcpy(&value, impl_of(tensor) + place * sizeof value, sizeof value);
    return value;
  }

  std::size_t keys_ = 0, autograd_ = 0;  // in words from the object's start
};

}  // namespace spanwise::python
