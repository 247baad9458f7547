// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_source.hpp"

/// CUDA C kernels that compute elements of results from the same elements of operands: what is
/// computed is text of the caller, how the arrays are read and written is text of these functions.
namespace spanwise::ops {

/// An array that a kernel reads: its pointer, its type, and the suffix of its variables.
struct ReadArray {
  std::string pointer, type, name;
  AccessPattern pattern = AccessPattern::contiguous;

  bool is_transposed() const {
    return pattern == AccessPattern::transposed || pattern == AccessPattern::transposed_in_packs;
  }
};

/// An array that a kernel writes. All results of a kernel have one layout.
struct WrittenArray {
  std::string pointer, type;
};

/// What a kernel computes.
struct KernelText {
  KernelLayout layout;
  std::vector<ReadArray> reads;  ///< in the order of the walk; the mask last
  std::vector<WrittenArray> results;
  bool has_mask = false;
  /// Of run(), up to the walk, each followed by ", ": as declared, and as passed on.
  std::string parameters, arguments;
  /// Statements that compute one element. `element` is how an array of `reads` is read; the results
  /// are assigned to `targets`, one for each of `results`.
  std::function<std::string(const std::function<std::string(const ReadArray&)>& element,
                            const std::vector<std::string>& targets)>
      compute;
};

/// The dtype's type in registers: a 16-bit float is a float unless the operation takes its bits.
const char* compute_type(const Signature& signature, DType dtype);

/// The kernel, without the typedefs and functions that `kernel` refers to.
std::string kernel_text(const KernelText& kernel);
/// The parts of kernel_text() for arrays that are not all contiguous.
std::string rows_kernel(const KernelText& kernel);
std::string tiles_kernel(const KernelText& kernel);
std::string strided_kernel(const KernelText& kernel);

/// The functions of all operations, which precede a kernel.
std::string operations_text();

}  // namespace spanwise::ops
