// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../fused/program.hpp"

namespace spanwise::ops {

/// One pass over a matrix x, whose rows are read once: the product z = x @ w of each row, a program
/// of z and other inputs of the row, and, with g one of its outputs, the products with the
/// transposed matrix: columns = alpha * x.T @ g + beta * addend. Also sum = the sum of g, and a
/// program of numbers, one of which is the sum.
///
/// Inputs, in this order: x, w, those of the program except z, the addend, those of `after` except
/// the sum. Outputs: those of the program, columns, the sum, those of `after`.
struct RowPass {
  ElementProgram program;
  int product = 0;  ///< input of the program: z
  int weights = 0;  ///< output of the program: g
  double alpha = 1, beta = 0;
  bool has_addend = false, has_sum = false;
  std::optional<ElementProgram> after;
  int sum = 0;  ///< input of `after`: the sum
  /// Numbers of rows without which the program does not give its outputs: fixed, or input
  /// `position` of the pass.
  struct RequiredRows {
    int position = -1;
    std::int64_t fixed = 0;
    friend bool operator==(const RequiredRows&, const RequiredRows&) = default;
  };
  std::vector<RequiredRows> required{};

  /// Of x, w, z, g, the addend and the columns: float32 or float64.
  DType dtype() const { return program.inputs[static_cast<std::size_t>(product)]; }
  std::size_t row_inputs() const { return program.inputs.size() - 1; }
  std::size_t after_inputs() const { return after ? after->inputs.size() - 1 : 0; }
  std::size_t addend_position() const { return 2 + row_inputs(); }
  std::size_t after_position() const { return addend_position() + (has_addend ? 1 : 0); }
  std::size_t inputs() const { return after_position() + after_inputs(); }
  std::size_t columns_position() const { return program.outputs.size(); }
  std::size_t outputs() const {
    return columns_position() + 1 + (has_sum ? 1 : 0) + (after ? after->outputs.size() : 0);
  }

  friend bool operator==(const RowPass&, const RowPass&) = default;
};

}  // namespace spanwise::ops
