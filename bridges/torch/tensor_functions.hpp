// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "spanwise/bridge.hpp"

/// Reads the memory of a torch.Tensor with libtorch's C functions.
namespace spanwise::python {

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

  bool try_load() noexcept;
  void add_dtype(void* library, DType dtype, std::string_view name) noexcept;
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
