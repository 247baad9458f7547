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
  /// rows: along the last of `rank` axes every array is contiguous, or stays where it is; the
  /// result is contiguous; `width` elements at a time, as in dense. strided: any strides along the
  /// axes.
  enum class Kind { dense, rows, strided };

  Signature signature;
  int inputs;
  std::array<DType, max_inputs> operands;    ///< in memory, after swapping
  std::array<bool, max_inputs> is_number{};  ///< passed by value, as signature.operand(i)
  DType result;
  bool has_mask = false;
  bool checks_exponent = false;  ///< of power: a negative exponent is reported, not computed
  Kind kind;
  int width = 1;          ///< of dense and rows
  int rank = 1;           ///< of rows and strided
  bool is_large = false;  ///< of rows and strided: more steps than 32 bits can count
  /// Of rows: the operand, or after them the mask, stays where it is along the last axis.
  std::array<bool, max_inputs + 1> stays{};
};

/// CUDA C with one kernel, `run`. Its parameters: of each operand its address (or the number), the
/// result's address, the mask's where there is one, the int32 that is set to 1 where exponents are
/// checked and one is negative; for rows and strided the extents and then, of each
/// array in that order, the strides in elements, as one struct of int64; and the count of steps,
/// which are elements, but of rows packs of them: its last extent counts those, and its last
/// strides are theirs. A block does steps_per_block(shape).
std::string cuda_source(const KernelShape& shape);

inline constexpr int cuda_block = 256;
inline constexpr int packs_per_thread = 2;
inline std::int64_t steps_per_block(const KernelShape& shape) noexcept {
  if (shape.kind != KernelShape::Kind::dense) return cuda_block;
  return std::int64_t{cuda_block} * packs_per_thread * shape.width;
}

}  // namespace spanwise::ops
