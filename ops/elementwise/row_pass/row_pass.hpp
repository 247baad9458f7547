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
/// transposed matrix: columns = alpha * x.T @ g + beta * addend. Also sum = the sum of g, and
/// sum_program, a program of numbers, one of which is the sum.
///
/// Inputs, in this order: x, w, those of the program except z, the addend, those of sum_program
/// except the sum. Outputs: those of the program, columns, the sum, those of sum_program.
struct RowPass {
  ElementProgram program;
  int product_input = 0;   ///< index of z among the program's inputs
  int weights_output = 0;  ///< index of g among the program's outputs
  double alpha = 1, beta = 0;
  bool has_addend = false, has_sum = false;
  std::optional<ElementProgram> sum_program;
  int sum_input = 0;  ///< index of the sum among the inputs of sum_program
  /// A condition of running the pass: the matrix has `fixed` rows, or as many as the value of input
  /// `position` of the pass if that is not -1.
  struct RequiredRows {
    int position = -1;
    std::int64_t fixed = 0;
    friend bool operator==(const RequiredRows&, const RequiredRows&) = default;
  };
  std::vector<RequiredRows> required{};

  /// Of x, w, z, g, the addend and the columns: float32 or float64.
  DType dtype() const { return program.inputs[static_cast<std::size_t>(product_input)]; }
  std::size_t row_inputs() const { return program.inputs.size() - 1; }
  std::size_t sum_program_inputs() const {
    return sum_program ? sum_program->inputs.size() - 1 : 0;
  }
  std::size_t addend_position() const { return 2 + row_inputs(); }
  std::size_t sum_program_position() const { return addend_position() + (has_addend ? 1 : 0); }
  std::size_t inputs() const { return sum_program_position() + sum_program_inputs(); }
  std::size_t columns_position() const { return program.outputs.size(); }
  std::size_t outputs() const {
    return columns_position() + 1 + (has_sum ? 1 : 0) +
           (sum_program ? sum_program->outputs.size() : 0);
  }

  friend bool operator==(const RowPass&, const RowPass&) = default;
};

/// The stride of a vector, in elements; 0 for one element, which stands for all.
inline std::int64_t vector_stride(const Array& array) {
  return array.size() == 1 ? 0 : array.strides()[0];
}

/// An array of this shape that is kept in `cached` for the next call.
const Array& cached_array(std::optional<Array>& cached, const Shape& shape, DType dtype,
                          Device device);

}  // namespace spanwise::ops
