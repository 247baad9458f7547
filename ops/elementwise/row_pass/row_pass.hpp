// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../element_program.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

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

/// What the kernels of a row pass are compiled for.
struct RowPassShape {
  int width = 1;    ///< elements of a row that are loaded at a time, aligned as a whole
  int packs = 1;    ///< such loads of a thread in a row
  int threads = 0;  ///< of a block, a multiple of 32; threads * packs * width elements cover a row
  int rows = 1;     ///< rows of a block at a time, at most 32
  /// Bit i: input i is passed by value.
  std::uint64_t numbers = 0;

  friend bool operator==(const RowPassShape&, const RowPassShape&) = default;
};

/// CUDA C with two kernels.
///
/// `pass`: x, its row stride, w, its stride, rows, columns; of each input of the program its
/// address and stride, or the number; the addresses of the program's outputs; the address and row
/// stride of one partial result for each block: the columns, then the sum of g.
///
/// `finish` adds the partial results: their address, row stride and count, the number of columns;
/// alpha and beta; the addend and its stride; the address of the columns, and of the sum; then the
/// inputs of sum_program as those of the program, without strides, and the addresses of its
/// outputs. Parameters that the pass does not have are left out.
std::string row_pass_source(const RowPass& pass, const RowPassShape& shape);

/// Runs a row pass on the CPU: each thread multiplies a block of rows that fits into its cache,
/// runs the program on the products, and adds the block's rows before it takes the next. One call
/// at a time.
class CpuRowPass {
 public:
  /// `ranks`: of the inputs of the pass. `pass` must outlive the object.
  CpuRowPass(const RowPass& pass, std::span<const int> ranks);

  /// Whether run() takes the inputs, for which the other conditions of RowPassRunner::accepts()
  /// hold: the elements of the matrix and the vectors are at multiples of their size.
  bool accepts(std::span<const Array* const> inputs) const;
  /// Outputs are contiguous and share no memory with inputs.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

  static constexpr std::int64_t max_columns = 1 << 14;

 private:
  template <class T>
  void run_in(std::span<const Array* const> inputs, std::span<const Array> outputs);

  const RowPass& pass_;
  CpuProgram program_;
  std::optional<CpuProgram> sum_program_;
  std::optional<Array> products_, partial_;  ///< see cached_array()
};

/// Runs a row pass by two kernels. One call at a time.
class CudaRowPass {
 public:
  /// `pass` must outlive the object.
  CudaRowPass(const RowPass& pass, Device device) : pass_(pass), device_(device) {}

  /// Queues the kernels on the device's current stream, for inputs that RowPassRunner::accepts().
  /// Outputs are contiguous and share no memory with inputs.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

  static constexpr std::int64_t max_columns = 4096;

 private:
  struct CompiledPass {
    RowPassShape shape;
    Kernel pass, finish;
    std::int64_t resident_blocks;  ///< of `pass`, on the whole device
  };
  const CompiledPass& kernels_for(const RowPassShape& shape);
  RowPassShape shape_for(std::span<const Array* const> inputs) const;

  const RowPass& pass_;
  Device device_;
  std::deque<CompiledPass> compiled_;
  std::optional<Array> partial_;  ///< see cached_array()
};

/// Runs a row pass on one device. One call at a time.
class RowPassRunner {
 public:
  /// `ranks`: of the inputs of the pass. `pass` must outlive the runner.
  RowPassRunner(const RowPass& pass, std::span<const int> ranks, Device device);

  /// Whether run() takes the inputs: a matrix of at least one element whose rows are contiguous and
  /// not longer than the device's implementation takes, on the device; other inputs on the device,
  /// or numbers on the host; vectors of one element for each row, or of one element for all.
  bool accepts(std::span<const Array* const> inputs) const;
  /// Outputs are contiguous and share no memory with inputs. On a GPU the work is queued on the
  /// current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

 private:
  bool has_required_rows(std::span<const Array* const> inputs) const;

  const RowPass& pass_;
  Device device_;
  std::optional<CpuRowPass> cpu_pass_;
  std::optional<CudaRowPass> cuda_pass_;
};

}  // namespace spanwise::ops
