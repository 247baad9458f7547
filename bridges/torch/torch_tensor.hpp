// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "spanwise/bridge.hpp"

/// Reads the memory of a torch.Tensor without calls into Python.
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

/// The functions of PyTorch's stable C interface (torch/csrc/inductor/aoti_torch/c/shim.h) that
/// read a tensor. Each takes a few instructions; the exchange API acquires the GIL and a reference
/// first.
///
/// They take a handle, the address of a C++ `at::Tensor`, which a Python tensor has directly after
/// its PyObject header. PyTorch does not guarantee this, so the results for sample tensors are
/// compared once with those of PyTorch's own methods; if any differs, the functions are not used.
class TensorFunctions {
 public:
  /// The functions, looked up at the first call, before which torch must be imported. Null if they
  /// cannot be used. Leaves no Python error. Needs the GIL.
  static const TensorFunctions* get_if_usable() noexcept;

  /// Sets all members but `stream`; false for memory that is neither on the host nor on a GPU, and
  /// for dtypes that only torch has. `tensor` must be exactly of class torch.Tensor, strided, and
  /// have its values in memory. Leaves no Python error.
  bool try_describe(PyObject* tensor, BorrowedTensor& memory) const noexcept;

 private:
  template <class Result>
  using Getter = std::int32_t (*)(void* handle, Result* result);

  bool try_load();
  void add_dtype(void* library, DType dtype, std::string_view name);
  bool matches_methods() const;
  bool matches_methods_of(PyObject* tensor) const;

  Getter<std::int64_t> dim_ = nullptr;
  Getter<std::int64_t*> sizes_ = nullptr, strides_ = nullptr;
  Getter<void*> data_ptr_ = nullptr;
  Getter<std::int32_t> dtype_ = nullptr, device_type_ = nullptr, device_index_ = nullptr;
  std::int32_t cpu_type_ = -1, cuda_type_ = -1;
  std::array<DType, 64>
      dtypes_{};  // by torch's number of the dtype; valid where `known_dtypes_` has the bit
  std::uint64_t known_dtypes_ = 0;
};

}  // namespace spanwise::python
