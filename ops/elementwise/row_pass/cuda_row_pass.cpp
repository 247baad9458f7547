// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_row_pass.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../graph/elementwise_op.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {
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
    add(address_of(array));
  }
  void add_written(const Array& array) {
    order_use(stream_, array, true);
    add(address_of(array));
  }
  // An array by its address, or a number by its value.
  void add_input(const Array& array, bool is_number) {
    if (!is_number) return add_read(array);
    order_host_use(array, false);  // the number may be on its way from a GPU
    pointers_[count_++] = array.data();
  }
  template <class T>
  void add(T value) {
    static_assert(sizeof(T) <= sizeof(values_[0]));
    std::memcpy(&values_[count_], &value, sizeof value);
    pointers_[count_] = &values_[count_];
    ++count_;
  }
  void add_factor(double factor, DType dtype) {
    if (dtype == float32)
      add(static_cast<float>(factor));
    else
      add(factor);
  }

  void launch(const Kernel& kernel, std::int64_t grid, int block) const {
    kernel.launch_raw({{grid, 1, 1}, {block, 1, 1}, 0, stream_}, std::span(pointers_, count_));
  }

 private:
  static constexpr std::size_t max_arguments = 16 + 2 * max_program_inputs + max_program_outputs;

  const Stream& stream_;
  std::size_t count_ = 0;
  std::uint64_t values_[max_arguments];
  void* pointers_[max_arguments];
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
  return compiled_.emplace_back(shape, pass, module.get_function("finish"), resident_blocks);
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
