// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "compute.hpp"

namespace spanwise::ops {

/// One kernel of one operation: what decides its text.
struct KernelShape {
  /// dense: every array contiguous, `width` elements at a time, each such pack aligned as a whole.
  /// strided: any strides along `rank` axes.
  enum class Kind { dense, strided };

  Signature signature;
  int inputs;
  std::array<DType, max_inputs> operands;    ///< in memory, after swapping
  std::array<bool, max_inputs> is_number{};  ///< passed by value, as signature.operand(i)
  DType result;
  bool has_mask = false;
  bool checks_exponent = false;  ///< of power: a negative exponent is reported, not computed
  Kind kind;
  int width = 1;          ///< of dense
  int rank = 1;           ///< of strided
  bool is_large = false;  ///< of strided: more elements than 32 bits can count
};

/// CUDA C with one kernel, `run`. Its parameters: of each operand its address (or the number), the
/// result's address, the mask's where there is one, the int32 that is set to 1 where exponents are
/// checked and one is negative; for strided the extents and then, of each
/// array in that order, the strides in elements, as one struct of int64; and the count of elements.
/// A block of `dense` does elements_per_block(shape) of them, of strided one a thread.
std::string cuda_source(const KernelShape& shape);

inline constexpr int cuda_block = 256;
inline constexpr int packs_per_thread = 2;
inline std::int64_t elements_per_block(const KernelShape& shape) noexcept {
  if (shape.kind == KernelShape::Kind::strided) return cuda_block;
  return std::int64_t{cuda_block} * packs_per_thread * shape.width;
}

}  // namespace spanwise::ops
