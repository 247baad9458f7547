// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../compute.hpp"

namespace spanwise::ops {

/// The memory layout of an array along the last axis, of which WIDTH elements are read at a time.
enum class AccessPattern : std::uint8_t {
  contiguous,           ///< adjacent elements, each pack aligned as a whole
  constant,             ///< one element for all
  reversed,             ///< as contiguous, backwards; for rows
  strided,              ///< any strides, or not aligned
  transposed,           ///< for tiles: along the axis before it, through shared memory
  transposed_in_packs,  ///< the same with aligned accesses of 16 bytes
};

/// How a kernel visits its arrays.
struct KernelLayout {
  /// dense: every array contiguous, `width` elements at a time, each such pack aligned as a whole.
  /// rows: along the last of `rank` axes the result is contiguous and written `width` elements at a
  /// time, aligned as in dense; operands have access patterns. tiles: the result is contiguous
  /// along the last axis, and operands along the one before it; blocks work on tiles of side_s *
  /// side_t of these. strided: any strides along the axes.
  enum class Kind : std::uint8_t { dense, rows, tiles, strided };

  Kind kind = Kind::dense;
  int width = 1;               ///< except strided
  int rank = 1;                ///< except dense
  bool is_large = false;       ///< for rows and strided: more elements than 32 bits can count
  bool has_tail = false;       ///< for rows: the last pack of a row may be incomplete
  int side_s = 1, side_t = 1;  ///< for tiles: powers of two, 16 or more, multiples of the width

  friend bool operator==(const KernelLayout&, const KernelLayout&) = default;
};

/// The properties that determine the source of one kernel.
struct KernelShape : KernelLayout {
  Signature signature;
  int inputs;
  std::array<DType, max_inputs> operands;    ///< in memory, after swapping
  std::array<bool, max_inputs> is_number{};  ///< passed by value, as signature.operand(i)
  DType result;
  bool has_mask = false;
  bool checks_exponent = false;  ///< for power: negative exponents are reported
  /// For rows and tiles: those of the operands, then of the mask.
  std::array<AccessPattern, max_inputs + 1> patterns{};
};

/// CUDA C with one kernel, `run`. Its parameters: the address of each operand (or the number), the
/// result's address, the mask's if there is one; if exponents are checked, the int32 that is set to
/// 1 for a negative one; except for dense, one struct of int64 with the extents and then the
/// strides of each array in this order, in elements; and, except for tiles, the number of steps:
/// elements, or packs for rows. A block does steps_per_block(shape).
std::string cuda_source(const KernelShape& shape);

inline constexpr int cuda_block = 256;
inline constexpr int packs_per_thread = 2;
/// The step of tiles is a tile.
inline std::int64_t steps_per_block(const KernelLayout& layout) noexcept {
  if (layout.kind == KernelLayout::Kind::tiles) return 1;
  if (layout.kind != KernelLayout::Kind::dense) return cuda_block;
  return std::int64_t{cuda_block} * packs_per_thread * layout.width;
}

}  // namespace spanwise::ops
