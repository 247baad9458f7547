// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../elementwise_body.hpp"
#include "../graph/elementwise_op.hpp"
#include "embedded/row_pass_text.hpp"
#include "row_pass.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops {
namespace {

// Threads of a block of the kernel `finish`, and the columns that lie side by side in it.
constexpr int finish_threads = 512, finish_columns = 8;

/// Writes the text for one pass.
class RowPassSource {
 public:
  RowPassSource(const RowPass& pass, const RowPassShape& shape) : pass_(pass), shape_(shape) {}

  std::string write() const {
    std::string all = text("typedef long long I;\n", operations_text(), "typedef ",
                           element_text(pass_.dtype()), " T;\n#define WIDTH ", shape_.width,
                           "\n#define PACKS ", shape_.packs, "\n#define THREADS ", shape_.threads,
                           "\n#define ROWS ", shape_.rows, "\n#define FINISH_THREADS ",
                           finish_threads, "\n#define FINISH_COLUMNS ", finish_columns, "\n");
    all += program_function(pass_.program, "row");
    if (pass_.sum_program) all += program_function(*pass_.sum_program, "sum_program");
    const std::size_t kernels = all.size();
    all += embedded::file_text(embedded::row_pass_text, "row_pass_kernels.cuh");
    const auto replace = [&](std::string_view name, std::string_view replacement) {
      all.replace(all.find(name, kernels), name.size(), replacement);
    };
    replace("PASS_PARAMETERS", parameters(pass_.program, "row", pass_.product_input, 2, true));
    replace("EVALUATE_ROW", row_statements());
    replace("FINISH_PARAMETERS", finish_parameters());
    replace("EVALUATE_SUM", sum_statements());
    replace("RESULT",
            pass_.has_addend ? "fma(alpha, sum, beta * addend[c * addend_step])" : "alpha * sum");
    return all;
  }

 private:
  bool is_number(std::size_t input) const { return (shape_.numbers >> input & 1) != 0; }

  // The parameters for a program in namespace `name`, each followed by a comma: its inputs but
  // `computed`, which begin at input `position` of the pass, and its outputs. `is_row`: inputs have
  // strides.
  std::string parameters(const ElementProgram& program, const char* name, int computed,
                         std::size_t position, bool is_row) const {
    std::string all;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      if (static_cast<int>(i) == computed) continue;
      const bool by_value = is_number(position++);
      all += text(by_value ? "" : "const ", name, "::M", i, by_value ? " a" : "* a", i, ", ");
      if (is_row && !by_value) all += text("I s", i, ", ");
    }
    for (std::size_t k = 0; k < program.outputs.size(); ++k)
      all += text(name, "::V", program.outputs[k], "* z", k, ", ");
    return all;
  }
  // The program's inputs, as parameters() declares them, and `value` for the computed one.
  std::string arguments(const ElementProgram& program, int computed, const char* value,
                        std::size_t position, bool is_row) const {
    std::string all;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      all += i > 0 ? ", " : "";
      if (static_cast<int>(i) == computed)
        all += value;
      else if (is_number(position++))
        all += text("a", i);
      else
        all += is_row ? text("a", i, "[row * s", i, "]") : text("*a", i);
    }
    return all;
  }

  std::string row_statements() const {
    std::string declared, stored,
        list = arguments(pass_.program, pass_.product_input, "product", 2, true);
    for (std::size_t k = 0; k < pass_.program.outputs.size(); ++k) {
      declared += text("        row::V", pass_.program.outputs[k], " y", k, ";\n");
      list += text(", y", k);
      stored += text("        z", k, "[row] = y", k, ";\n");
    }
    return text(declared, "        row::run(", list, ");\n", stored, "        weight = y",
                pass_.weights_output, ";\n");
  }

  std::string finish_parameters() const {
    std::string all = pass_.has_addend ? "const T* addend, I addend_step, " : "";
    all += pass_.has_sum ? "T* result, T* total, " : "T* result, ";
    if (pass_.sum_program)
      all += parameters(*pass_.sum_program, "sum_program", pass_.sum_input,
                        pass_.sum_program_position(), false);
    return all.substr(0, all.size() - 2);
  }

  std::string sum_statements() const {
    std::string all = pass_.has_sum ? "    *total = sum;\n" : "";
    if (!pass_.sum_program) return all;
    all += "    sum_program::run(" + arguments(*pass_.sum_program, pass_.sum_input, "sum",
                                               pass_.sum_program_position(), false);
    for (std::size_t k = 0; k < pass_.sum_program->outputs.size(); ++k) all += text(", *z", k);
    return all + ");\n";
  }

  const RowPass& pass_;
  const RowPassShape& shape_;
};

}  // namespace

std::string row_pass_source(const RowPass& pass, const RowPassShape& shape) {
  return RowPassSource(pass, shape).write();
}

namespace {

constexpr int pass_threads = 256, warp = 32;
constexpr int load_bytes = 16;  // the widest load of a thread
// Rows of a block at a time: more of them hide the time of a load, and need more registers.
constexpr int rows_at_a_time = 8;

std::uintptr_t address_of(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data());
}

/// The arguments of one launch. Their number is limited, so that no memory is allocated.
class Arguments {
 public:
  explicit Arguments(const Stream& stream) : stream_(stream) {}

  void add_read(const Array& array) {
    order_use(stream_, array, false);
    add_address(array);
  }
  void add_written(const Array& array) {
    order_use(stream_, array, true);
    add_address(array);
  }
  // An array by its address, or a number by its value.
  void add_input(const Array& array, bool is_number) {
    if (!is_number) return add_read(array);
    order_host_use(array, false);  // the number may be on its way from a GPU
    all_.add(array.data());
  }
  template <class T>
  void add(T value) {
    all_.add(kept(value));
  }
  void add_factor(double factor, DType dtype) {
    if (dtype == float32)
      add(static_cast<float>(factor));
    else
      add(factor);
  }

  void launch(const Kernel& kernel, std::int64_t grid, int block) const {
    kernel.launch_raw({{grid, 1, 1}, {block, 1, 1}, 0, stream_}, all_);
  }

 private:
  void add_address(const Array& array) { all_.add(kept(address_of(array)), array); }
  // The address of a copy of the value.
  template <class T>
  const void* kept(T value) {
    static_assert(sizeof(T) <= sizeof(values_[0]));
    return std::memcpy(&values_[count_++], &value, sizeof value);
  }

  static constexpr std::size_t max_arguments = 16 + 2 * max_program_inputs + max_program_outputs;

  const Stream& stream_;
  std::size_t count_ = 0;
  std::uint64_t values_[max_arguments];
  RawArguments all_;
};

}  // namespace

RowPassShape CudaRowPass::shape_for(std::span<const Array* const> inputs) const {
  const Array& x = *inputs[0];
  const std::int64_t columns = x.shape()[1], itemsize = x.dtype().itemsize();
  RowPassShape shape;
  const bool is_aligned = address_of(x) % load_bytes == 0 &&
                          (x.shape()[0] == 1 || x.strides()[0] * itemsize % load_bytes == 0);
  if (is_aligned) shape.width = static_cast<int>(load_bytes / itemsize);
  const std::int64_t loads = ceil_div(columns, shape.width);
  shape.packs = static_cast<int>(ceil_div(loads, pass_threads));
  shape.threads = static_cast<int>(ceil_div(ceil_div(loads, shape.packs), warp)) * warp;
  // A thread holds more elements of a long row, which take more registers.
  shape.rows = std::max(1, rows_at_a_time * 4 / std::max(4, shape.packs * shape.width));
  for (std::size_t i = 2; i < inputs.size(); ++i)
    if (is_host_number(*inputs[i]) && !runs_on_host(device_))
      shape.numbers |= std::uint64_t{1} << i;
  return shape;
}

const CudaRowPass::CompiledPass& CudaRowPass::kernels_for(const RowPassShape& shape) {
  for (const CompiledPass& compiled : compiled_)
    if (compiled.shape == shape) return compiled;
  const InterpreterUnlocked unlocked;
  // As on the host, products of the program are rounded before they are added.
  const SourceModule module(row_pass_source(pass_, shape),
                            {.options = {"--fmad=false"}, .device = device_});
  const Kernel pass = module.get_function("pass");
  const std::int64_t resident_blocks = runs_on_host(device_)
                                           ? std::int64_t{parallel_workers()}
                                           : std::int64_t{pass.max_active_blocks(shape.threads)} *
                                                 fixed_properties(device_).multiprocessors;
  compiled_.push_back({shape, pass, module.get_function("finish"), resident_blocks});
  return compiled_.back();
}

void CudaRowPass::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  const Array& x = *inputs[0];
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  const RowPassShape shape = shape_for(inputs);
  const CompiledPass& kernels = kernels_for(shape);
  const std::int64_t blocks = std::min(ceil_div(rows, shape.rows), kernels.resident_blocks);
  // A row has the columns and the sum of g; rows begin at multiples of 128 bytes or more.
  const std::int64_t partial_row = ceil_div(columns + 1, 32) * 32;
  const Array& partial = cached_array(partial_, {blocks, partial_row}, pass_.dtype(), device_);
  const Stream stream = Stream::current(device_);
  const auto is_number = [&](std::size_t i) { return (shape.numbers >> i & 1) != 0; };

  Arguments pass(stream);
  pass.add_read(x);
  pass.add(rows == 1 ? columns : x.strides()[0]);
  pass.add_read(*inputs[1]);
  pass.add(vector_stride(*inputs[1]));
  pass.add(rows);
  pass.add(columns);
  for (std::size_t i = 2; i < pass_.addend_position(); ++i) {
    pass.add_input(*inputs[i], is_number(i));
    if (!is_number(i)) pass.add(vector_stride(*inputs[i]));
  }
  for (std::size_t k = 0; k < pass_.columns_position(); ++k) pass.add_written(outputs[k]);
  pass.add_written(partial);
  pass.add(partial_row);
  pass.launch(kernels.pass, blocks, shape.threads);

  Arguments finish(stream);
  finish.add_read(partial);
  finish.add(partial_row);
  finish.add(static_cast<int>(blocks));
  finish.add(columns);
  finish.add_factor(pass_.alpha, pass_.dtype());
  finish.add_factor(pass_.beta, pass_.dtype());
  if (pass_.has_addend) {
    finish.add_read(*inputs[pass_.addend_position()]);
    finish.add(vector_stride(*inputs[pass_.addend_position()]));
  }
  std::size_t next = pass_.columns_position();
  finish.add_written(outputs[next++]);
  if (pass_.has_sum) finish.add_written(outputs[next++]);
  for (std::size_t i = pass_.sum_program_position(); i < inputs.size(); ++i)
    finish.add_input(*inputs[i], is_number(i));
  while (next < outputs.size()) finish.add_written(outputs[next++]);
  finish.launch(kernels.finish, ceil_div(columns + 1, finish_columns), finish_threads);
}

}  // namespace spanwise::ops
