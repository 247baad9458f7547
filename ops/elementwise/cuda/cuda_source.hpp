// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../compute.hpp"

namespace spanwise::ops {

/// How an array lies along the last axis, where WIDTH elements are read at a time.
enum class AccessPattern : std::uint8_t {
  run,               ///< one after the other, each pack aligned as a whole
  stays,             ///< one element for all
  turned,            ///< as run, backwards; of rows
  apart,             ///< any strides, or not aligned
  crosses,           ///< of tiles: along the axis before it, by shared memory
  crosses_in_packs,  ///< the same by aligned accesses of 16 bytes
};

/// How a kernel goes over its arrays.
struct KernelLayout {
  /// dense: every array contiguous, `width` elements at a time, each such pack aligned as a whole.
  /// rows: along the last of `rank` axes the result is contiguous and written `width` elements at a
  /// time, aligned as in dense; operands lie as their patterns say. tiles: the result is contiguous
  /// along the last axis, and operands along the one before it; blocks work on tiles of
  /// side_s * side_t of these. strided: any strides along the axes.
  enum class Kind : std::uint8_t { dense, rows, tiles, strided };

  Kind kind = Kind::dense;
  int width = 1;               ///< of all but strided
  int rank = 1;                ///< of all but dense
  bool is_large = false;       ///< of rows and strided: more elements than 32 bits can count
  bool has_tail = false;       ///< of rows: the last pack of a row may be cut
  int side_s = 1, side_t = 1;  ///< of tiles: powers of two, 16 or more, multiples of the width

  friend bool operator==(const KernelLayout&, const KernelLayout&) = default;
};

/// One kernel of one operation: what decides its text.
struct KernelShape : KernelLayout {
  Signature signature;
  int inputs;
  std::array<DType, max_inputs> operands;    ///< in memory, after swapping
  std::array<bool, max_inputs> is_number{};  ///< passed by value, as signature.operand(i)
  DType result;
  bool has_mask = false;
  bool checks_exponent = false;  ///< of power: a negative exponent is reported, not computed
  /// Of rows and tiles: the operands', and after them the mask's.
  std::array<AccessPattern, max_inputs + 1> lies{};
};

/// CUDA C with one kernel, `run`. Its parameters: of each operand its address (or the number), the
/// result's address, the mask's where there is one, the int32 that is set to 1 where exponents are
/// checked and one is negative; for all but dense the extents and then, of each array in that
/// order, the strides in elements, as one struct of int64; and, but for tiles, the count of steps:
/// elements, or of rows packs of them. A block does steps_per_block(shape).
std::string cuda_source(const KernelShape& shape);

inline constexpr int cuda_block = 256;
inline constexpr int packs_per_thread = 2;
/// Of tiles a step is a tile.
inline std::int64_t steps_per_block(const KernelLayout& layout) noexcept {
  if (layout.kind == KernelLayout::Kind::tiles) return 1;
  if (layout.kind != KernelLayout::Kind::dense) return cuda_block;
  return std::int64_t{cuda_block} * packs_per_thread * layout.width;
}

}  // namespace spanwise::ops
