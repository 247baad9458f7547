// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../selection.hpp"

/// The loops of the CPU over selected elements, by element size. Steps and strides in bytes; no
/// alignment is required.
namespace spanwise::ops {

/// Moves `count` elements, or rows of `row_bytes`, between array + offsets[i] and
/// value + i * value_step.
using MoveLoop = void (*)(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                          std::byte* value, std::int64_t value_step, std::int64_t row_bytes);

/// Moves the selected elements to (read) or from (write) `value`, an array of the result's shape
/// and the array's dtype, of any strides, that shares no memory with the array; both are in host
/// memory. Large reads use several threads; writes only if no element is written twice. `loop`
/// replaces move_loop(), for example to accumulate; it is called in C order for each element.
void move_on_host(const Selection& selection, const Array& value, MoveDirection direction,
                  MoveLoop loop = nullptr);

/// The loop for elements of 1, 2, 4, 8 or 16 bytes, or for rows of any other size.
MoveLoop move_loop(MoveDirection direction, std::int64_t row_bytes) noexcept;

/// As MoveLoop, between array + indices[i] * stride and value + i * value_step, where negative
/// indices count from `extent`. Stops at an index outside [-extent, extent); returns the number of
/// elements moved.
using IndexLoop = std::int64_t (*)(std::byte* array, const std::int64_t* indices,
                                   std::int64_t count, std::int64_t extent, std::int64_t stride,
                                   std::byte* value, std::int64_t value_step,
                                   std::int64_t row_bytes);
IndexLoop index_loop(MoveDirection direction, std::int64_t row_bytes) noexcept;

/// offsets[i] += stride * (index i); indices are `step` bytes apart, negative ones count from
/// `extent`.
void add_offsets(std::int64_t* offsets, std::int64_t count, const std::byte* indices,
                 std::int64_t step, std::int64_t extent, std::int64_t stride) noexcept;

/// The number of bytes that are not 0.
std::int64_t count_true_bytes(const std::byte* bytes, std::int64_t count) noexcept;

/// Writes base + i * increment to `out` for each true byte i of `count` bytes that are `step`
/// apart, and returns their number. `out` has space for `count` values, all of which may be
/// overwritten. No branch depends on a single byte.
std::int64_t collect_true(const std::byte* mask, std::int64_t step, std::int64_t count,
                          std::int64_t base, std::int64_t increment, std::int64_t* out) noexcept;

/// memcpy for rows that are mostly short, for which a call would take longer than the copy.
inline void copy_row(std::byte* to, const std::byte* from, std::int64_t bytes) noexcept {
  if (bytes > 64 || bytes < 8) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::uint64_t word;
  for (std::int64_t i = 0; i + 8 < bytes; i += 8) {
    std::memcpy(&word, from + i, 8);
    std::memcpy(to + i, &word, 8);
  }
  std::memcpy(&word, from + bytes - 8, 8);  // may copy some bytes twice
  std::memcpy(to + bytes - 8, &word, 8);
}

/// Copies a constant number of bytes, or a row of `row_bytes` where that number is 0.
template <int bytes>
[[gnu::always_inline]] inline void copy_part(std::byte* to, const std::byte* from,
                                             std::int64_t row_bytes) noexcept {
  if constexpr (bytes > 0)
    std::memcpy(to, from, bytes);
  else
    copy_row(to, from, row_bytes);
}

/// The range of indices into an axis.
enum class IndexRange : std::uint8_t {
  outside,          ///< at least one is not in [-extent, extent)
  from_either_end,  ///< all are, and some are negative
  from_start,       ///< all are in [0, extent)
};

IndexRange classify_indices(const std::int64_t* indices, std::int64_t count,
                            std::int64_t extent) noexcept;

/// Whether all of `count` indices are in [-extent, extent).
inline bool all_inside(const std::int64_t* indices, std::int64_t count,
                       std::int64_t extent) noexcept {
  return classify_indices(indices, count, extent) != IndexRange::outside;
}

/// Accumulates single elements array + indices[i] * stride and value + i * value_step. All indices
/// are inside [-extent, extent); `kind` says whether any is negative. Steps in bytes.
using ElementAccumulateLoop = void (*)(std::byte* array, const std::int64_t* indices,
                                       std::int64_t count, IndexRange kind, std::int64_t extent,
                                       std::int64_t stride, const std::byte* value,
                                       std::int64_t value_step);

/// The loops of the CPU for a dtype: of rows of elements, and of single ones.
struct AccumulateLoops {
  MoveLoop rows;
  ElementAccumulateLoop elements;
};
/// Throws DTypeError if the CPU has none.
AccumulateLoops accumulate_loops(DType dtype, Accumulation how);

/// search_sorted() on the host, written to `positions`. All arrays are aligned and C-contiguous;
/// `sorted` and `values` have one computable dtype, which is not bool or a 16-bit float.
void search_on_host(const Array& sorted, const Array& values, Side side, const Array& positions);

}  // namespace spanwise::ops
