// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_row_pass.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "spanwise/copy.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/stream.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise::ops {
namespace {

constexpr int pass_threads = 256, warp = 32, row_bytes = 16;
// Rows of a block at a time: more of them hide the time of a load, and need more registers.
constexpr int rows_at_a_time = 8;

std::int64_t blocks_for(std::int64_t count, std::int64_t each) { return (count + each - 1) / each; }

std::uintptr_t address_of(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data());
}

bool is_number_on_host(const Array& array) {
  return array.rank() == 0 && runs_on_host(array.device());
}

/// The arguments of one launch. Their number is known, so that no memory is allocated.
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

// Of a vector, or of one element for all rows.
std::int64_t stride_of(const Array& array) { return array.size() == 1 ? 0 : array.strides()[0]; }

}  // namespace

RowPassShape CudaRowPass::shape_for(std::span<const Array* const> inputs) const {
  const Array& x = *inputs[0];
  const std::int64_t columns = x.shape()[1], itemsize = x.dtype().itemsize();
  RowPassShape shape;
  const bool is_aligned = address_of(x) % row_bytes == 0 &&
                          (x.shape()[0] == 1 || x.strides()[0] * itemsize % row_bytes == 0);
  if (is_aligned) shape.width = static_cast<int>(row_bytes / itemsize);
  const std::int64_t loads = blocks_for(columns, shape.width);
  shape.packs = static_cast<int>(blocks_for(loads, pass_threads));
  shape.threads = static_cast<int>(blocks_for(blocks_for(loads, shape.packs), warp)) * warp;
  // Long rows take more registers each.
  shape.rows = std::max(1, rows_at_a_time * 4 / std::max(4, shape.packs * shape.width));
  for (std::size_t i = 2; i < inputs.size(); ++i)
    if (is_number_on_host(*inputs[i]) && !runs_on_host(device_))
      shape.numbers |= std::uint64_t{1} << i;
  return shape;
}

const CudaRowPass::CompiledPass& CudaRowPass::kernels_for(const RowPassShape& shape) {
  for (const CompiledPass& known : compiled_)
    if (known.shape == shape) return known;
  const InterpreterUnlocked unlocked;
  ModuleOptions options;
  options.device = device_;
  // As on the host, products of the program are rounded before they are added.
  options.options = {"--fmad=false"};
  const SourceModule module(row_pass_source(pass_, shape), options);
  const Kernel pass = module.get_function("pass");
  const std::int64_t resident_blocks = runs_on_host(device_)
                                           ? std::int64_t{parallel_workers()}
                                           : std::int64_t{pass.max_active_blocks(shape.threads)} *
                                                 fixed_properties(device_).multiprocessors;
  return compiled_.emplace_back(shape, pass, module.get_function("finish"), resident_blocks);
}

const Array& CudaRowPass::partial_sums(std::int64_t blocks, std::int64_t row) {
  const Shape shape{blocks, row};
  if (!partial_ || partial_->shape() != shape) {
    partial_.reset();
    partial_.emplace(empty(shape, pass_.dtype(), device_));
  }
  return *partial_;
}

void CudaRowPass::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  const Array& x = *inputs[0];
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  const RowPassShape shape = shape_for(inputs);
  const CompiledPass& kernels = kernels_for(shape);
  const std::int64_t blocks = std::min(blocks_for(rows, shape.rows), kernels.resident_blocks);
  const std::int64_t partial_row = (columns + 1 + 31) / 32 * 32;
  const Array& partial = partial_sums(blocks, partial_row);
  const Stream stream = Stream::current(device_);
  const auto is_number = [&](std::size_t i) { return (shape.numbers >> i & 1) != 0; };

  Arguments pass(stream);
  pass.add_read(x);
  pass.add(rows == 1 ? columns : x.strides()[0]);
  pass.add_read(*inputs[1]);
  pass.add(stride_of(*inputs[1]));
  pass.add(rows);
  pass.add(columns);
  for (std::size_t i = 2; i < pass_.addend_position(); ++i) {
    pass.add_input(*inputs[i], is_number(i));
    if (!is_number(i)) pass.add(stride_of(*inputs[i]));
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
    finish.add(stride_of(*inputs[pass_.addend_position()]));
  }
  std::size_t next = pass_.columns_position();
  finish.add_written(outputs[next++]);
  if (pass_.has_sum) finish.add_written(outputs[next++]);
  for (std::size_t i = pass_.after_position(); i < inputs.size(); ++i)
    finish.add_input(*inputs[i], is_number(i));
  while (next < outputs.size()) finish.add_written(outputs[next++]);
  finish.launch(kernels.finish, blocks_for(columns + 1, finish_columns), finish_threads);
}

}  // namespace spanwise::ops
