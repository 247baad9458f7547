// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"

/// Softmax along one axis, in one pass: each row, or column, is read once and written once, and is
/// in registers or in a cache in between.
namespace spanwise::ops {

/// exp(x) / sum(exp(x)) along `axis`, or with `is_logarithm` its logarithm; a new array in the
/// order of the axes of `x` in memory. 16-bit floats are rounded once, at the end. nullopt where
/// the operations one by one are to be used: for other dtypes than floats, for few long rows, and
/// where the processor has no vector unit with fused multiplication.
SW_API std::optional<Array> softmax(const Array& x, int axis, bool is_logarithm);
/// The same into `result`, which is C-contiguous; false where it does nothing.
bool softmax_into(const Array& x, int axis, bool is_logarithm, const Array& result);

/// What determines a kernel; see softmax.cuh.
struct SoftmaxShape {
  DType dtype;
  bool is_logarithm = false, is_column = false;
  int group = 32, packs = 1, width = 1;  ///< rows
  int columns = 256, count = 0;          ///< columns

  int block() const noexcept { return is_column ? 256 : group > 32 ? group : 128; }
  friend auto operator<=>(const SoftmaxShape& a, const SoftmaxShape& b) noexcept {
    return a.words() <=> b.words();
  }
  friend bool operator==(const SoftmaxShape& a, const SoftmaxShape& b) noexcept {
    return a.words() == b.words();
  }

 private:
  std::array<int, 9> words() const noexcept {
    return {static_cast<int>(dtype.code()),
            dtype.bits(),
            is_logarithm,
            is_column,
            group,
            packs,
            width,
            columns,
            count};
  }
};

/// CUDA C with the kernel `run`.
std::string softmax_source(const SoftmaxShape& shape);

/// The kernel for rows of `length` elements, `step` apart, with the first at `x` and `z`, on their
/// device. Both have the same layout without gaps.
void softmax_by_kernel(const Array& x, const Array& z, std::int64_t length, std::int64_t step,
                       bool is_logarithm);

}  // namespace spanwise::ops
