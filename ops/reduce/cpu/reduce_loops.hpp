// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../reduce_job.hpp"

/// The loops of reductions on the CPU: over elements, and over the accumulators that result.
namespace spanwise::ops::reduce {

/// Elements of `columns` outputs, `rows` of each. Steps in elements (of the mask: bytes), any sign.
struct ElementBlock {
  const std::byte* data = nullptr;
  const std::byte* mask = nullptr;  ///< null: all elements count
  std::int64_t columns = 1, rows = 0;
  std::int64_t column_step = 0, row_step = 0;
  std::int64_t mask_column_step = 0, mask_row_step = 0;
  const void* subtrahends = nullptr;       ///< one for each column: float64, or complex128
  std::int64_t index = 0, index_step = 0;  ///< index of the first row; step from row to row
};

/// The loops of one ReductionTypes over host memory.
struct ReduceLoops {
  int accumulator_bytes;
  /// Sets n accumulators to the identity.
  void (*clear)(void* accumulators, std::int64_t n);
  /// accumulators[j] = combine(accumulators[j], elements of column j), in an order that depends on
  /// the block alone.
  void (*add)(const ElementBlock& block, void* accumulators);
  /// into[j] = combine(into[j], from[j]).
  void (*join)(void* into, const void* from, std::int64_t n);
  /// out[i] = carry = combine(carry, element i), n elements `step` apart; null except for sum and
  /// prod.
  void (*scan)(const std::byte* data, std::int64_t step, std::int64_t n, void* carry, void* out);
};

/// The fastest loops for this processor. For kinds with gives_index, an accumulator is a value
/// followed by an int64 index. Throws DTypeError.
const ReduceLoops& find_loops(const ReductionTypes& types);

/// The index in each of n accumulators of a kind with gives_index.
void indices_of(const ReduceLoops& loops, const void* accumulators, std::int64_t n,
                std::int64_t* indices);
/// The bytes of a complex number and its index.
inline constexpr int max_accumulator_bytes = 24;

// The last steps, before and while results are written.

/// Adds 0 to each value, which makes 0 of -0; integers stay as they are.
void add_zero(DType dtype, void* values, std::int64_t n);
/// values[i] /= divisors[i]; values are float64, complex128 or int64 (which become float64).
void divide(DType dtype, void* values, const double* divisors, std::int64_t n);
/// The square root of float64 values.
void take_roots(double* values, std::int64_t n);
/// values[i] -= subtrahends[i * step]; the values are of `dtype`, the subtrahends of `stored`.
void subtract(DType dtype, void* values, DType stored, const std::byte* subtrahends,
              std::int64_t step, std::int64_t n);
/// Writes values of `from` as `to`, `step` elements apart; see can_store().
void store(DType from, const void* values, std::int64_t n, DType to, std::byte* out,
           std::int64_t step);

}  // namespace spanwise::ops::reduce
