// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "block_loop.hpp"
#include "spanwise/strided/cpu_loop.hpp"

namespace spanwise::strided {

/// Memory of the calling thread, 64-byte aligned, valid until the thread's next call.
std::byte* thread_scratch(std::size_t bytes);

/// Whether the body can use the operand's elements in memory one by one.
inline bool is_native(const CpuOperand& operand) noexcept {
  if (operand.dtype != operand.compute) return false;
  const auto size = static_cast<std::uintptr_t>(operand.compute.itemsize());  // a power of two
  const std::uintptr_t part = operand.compute.is_complex() ? size / 2 : size;
  return (reinterpret_cast<std::uintptr_t>(operand.data) & (part - 1)) == 0;
}

/// Calls run(begin, end) for each run of elements, of `n`, that a mask selects; `step` is the bytes
/// between its elements.
template <class F>
void for_each_selected(const std::byte* mask, std::int64_t step, std::int64_t n, F&& run) {
  for (std::int64_t i = 0; i < n;) {
    if (mask[i * step] == std::byte{0}) {
      ++i;
      continue;
    }
    const std::int64_t begin = i;
    while (i < n && mask[i * step] != std::byte{0}) ++i;
    run(begin, i);
  }
}

/// A loop over arrays that are not all contiguous in one order.
///
/// A block of the walk is computed in runs of whole rows. Each operand is used in place, or in a
/// buffer that holds a run; transposed inputs are copied into their buffer for the whole block.
class CpuLoop {
 public:
  CpuLoop(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body);
  void run() const;

 private:
  /// An operand along the walk.
  struct OperandAccess {
    std::int64_t itemsize, compute_size;  ///< compute_size is 0 for CpuOperand::is_element
    std::int64_t step, row_step;          ///< bytes along columns and rows
    bool is_constant;                     ///< an input that is the same element everywhere
    bool is_native, is_direct;            ///< direct: native, and contiguous along columns
    bool is_transposed;
    std::size_t buffer;  ///< its offset in the thread's memory
  };
  /// How the body accesses rows.
  enum class RowAccess {
    direct,       ///< in place
    with_number,  ///< in place; operands after the first are one element per row
    strided,      ///< in place, with the body's strided loop
    buffered,
  };
  /// The buffers of one thread.
  struct Buffers {
    std::byte* memory = nullptr;
    std::array<const std::byte*, max_arrays> source;       ///< where the contents were loaded from
    std::array<std::int64_t, max_arrays> loaded, columns;  ///< elements, and those of a row
  };

  static Walk make_walk(const Shape& shape, std::span<const CpuOperand> operands);
  std::optional<int> find_transposed_axis() const;
  void find_access();
  RowAccess find_row_access() const;
  void split();
  void place_buffers();

  Buffers make_buffers() const;
  void run_block(std::byte* const* data, std::int64_t rows, std::int64_t columns,
                 Buffers& buffers) const;
  void run_rows(std::byte* const* data, std::int64_t rows, std::int64_t columns, std::byte** arrays,
                Buffers& buffers) const;
  void run_masked(const std::byte* mask, std::int64_t columns, std::byte* const* arrays,
                  std::byte* const* targets) const;
  std::byte* load(std::size_t k, std::byte* from, std::int64_t rows, std::int64_t columns,
                  Buffers& buffers) const;
  void store(std::size_t k, const std::byte* from, std::byte* to, std::int64_t rows,
             std::int64_t columns) const;
  bool is_usable(const OperandAccess& access, std::int64_t rows,
                 std::int64_t columns) const noexcept {
    return access.is_direct && (rows == 1 || access.row_step == columns * access.step);
  }

  std::span<const CpuOperand> operands_;
  const CpuBody& body_;
  std::size_t count_;  ///< of operands, without the mask
  bool has_mask_;
  Walk walk_;
  BlockSplit split_;
  std::int64_t run_rows_ = 1;  ///< rows of a run
  bool has_transposed_ = false;
  RowAccess row_access_ = RowAccess::buffered;
  std::array<OperandAccess, max_arrays> access_;
  std::size_t memory_ = 0;  ///< bytes for a thread
};

}  // namespace spanwise::strided
