// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spanwise/bridge.hpp"

/// Where a torch.Tensor's memory is, asked of libtorch's C functions.
namespace spanwise::python {

/// The functions of PyTorch's stable C interface (torch/csrc/inductor/aoti_torch/c/shim.h) that
/// read a tensor. Each is a few instructions, where the exchange API takes the GIL and a reference
/// first.
///
/// They want a handle, which is the address of a C++ `at::Tensor`; a Python tensor has one behind
/// its head. PyTorch promises neither, so the answers about tensors made for it are held against
/// what PyTorch's own methods say, once; where one differs the functions are not used.
class TensorFunctions {
 public:
  /// The functions, looked for at the first call, for which torch has to be imported and
  /// TensorImplOffsets to have been found; null where they are not to be used. Leaves no Python
  /// error. Needs the GIL.
  static const TensorFunctions* found() noexcept;

  /// Fills all but `stream`; false for what is neither in the host's nor in a GPU's memory and for
  /// dtypes that torch alone has. Of objects of exactly the class torch.Tensor that are strided and
  /// have their values in memory. Leaves no Python error.
  bool try_describe(PyObject* tensor, BorrowedTensor& memory) const noexcept;

 private:
  template <class Answer>
  using Question = std::int32_t (*)(void* handle, Answer* answer);

  bool load() noexcept;
  void learn_dtype(void* library, DType dtype, std::string_view name) noexcept;
  bool agrees_with_methods() const;
  bool agrees_about(PyObject* tensor) const;

  Question<std::int64_t> dim_ = nullptr;
  Question<std::int64_t*> sizes_ = nullptr, strides_ = nullptr;
  Question<void*> data_ptr_ = nullptr;
  Question<std::int32_t> dtype_ = nullptr, device_type_ = nullptr, device_index_ = nullptr;
  std::int32_t cpu_type_ = -1, cuda_type_ = -1;
  std::array<DType, 64> dtypes_{};  // by torch's number, where `known_` has its bit
  std::uint64_t known_ = 0;
};

}  // namespace spanwise::python
