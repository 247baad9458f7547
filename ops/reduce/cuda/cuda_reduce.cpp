// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "../reduce_job.hpp"
#include "reduce_kernels.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops::reduce {
namespace {

constexpr std::int64_t block_threads = 256;
/// Threads that fill a large GPU; more do not help.
constexpr std::int64_t enough_threads = 1 << 18;
/// Outputs of up to so many elements have a thread each where they are adjacent, or are not read in
/// packs where their elements are.
constexpr std::int64_t few_column_elements = 16, few_row_elements = 8;
/// Adjacent outputs from which on a block has a part of one row of them.
constexpr std::int64_t wide_row = 1024;
/// Elements of an output per thread, below which splitting the output is slower.
constexpr std::int64_t thread_elements = 32;

/// The bytes of struct JobArrays of reduce_common.cuh.
struct ArraysBytes {
  const void *input, *mask, *subtrahend, *divisors;
  void* result;
  double divisor, correction;
};
/// struct OperandBytes of reduce_common.cuh.
struct OperandBytes {
  std::uint64_t words[2];
};
/// struct OutputSplit of reduce_common.cuh.
struct OutputSplit {
  std::int64_t outputs, elements, piece, pieces;
};

class CudaReduction {
 public:
  explicit CudaReduction(const ReduceJob& job) : job_(job), axes_(job) {
    describe();
    choose_form();
    split_work();
  }

  /// Whether each output is reduced by the threads of one block.
  bool is_whole() const noexcept { return split_.pieces == 1; }

  /// Each axis takes 56 bytes and 8 for each operand, of 4 KB for all arguments.
  bool has_too_many_axes() const { return shape_.kept + shape_.reduced > 12; }

  void run() {
    const Device device = job_.result->device();
    const Stream stream = Stream::current(device);
    const ReduceKernels& kernels =
        job_.computed == nullptr
            ? reduce_kernels(shape_, device)
            : job_.computed->kernels.get(shape_, device, &job_.computed->source);
    for (const Array* array : {job_.input, job_.mask, job_.subtrahend, job_.divisors})
      if (array != nullptr) order_use(stream, *array, false);
    for (const Array* operand : operands())
      if (!is_by_value(*operand)) order_use(stream, *operand, false);
    order_use(stream, *job_.result, true);
    const std::int64_t part_count = split_.pieces == 1 ? 0 : split_.outputs * split_.pieces;
    const Array parts = empty(Shape{part_count * accumulator_bytes(shape_)}, uint8, device);
    if (part_count > 0) order_use(stream, parts, true);
    const std::vector<std::byte> arrays = packed_arrays();
    const std::vector<std::int64_t> axes = packed_axes();
    const KernelArg arguments[] = {KernelArg::bytes(arrays),
                                   reduce_address(part_count > 0 ? parts.data() : nullptr),
                                   KernelArg::bytes(std::as_bytes(std::span(axes))),
                                   KernelArg::bytes(std::as_bytes(std::span(&split_, 1)))};
    kernels.run.launch({{blocks_}, {block_threads}, 0, stream}, arguments);
    if (part_count == 0) return;
    const std::int64_t fold_blocks = ceil_div(split_.outputs, block_threads / 32);
    kernels.fold->launch({{fold_blocks}, {block_threads}, 0, stream}, arguments);
  }

 private:
  void describe() {
    shape_.types = job_.types;
    shape_.result = job_.result->dtype();
    if (job_.subtrahend != nullptr) shape_.subtrahend = job_.subtrahend->dtype();
    shape_.has_mask = job_.mask != nullptr;
    shape_.has_divisors = job_.divisors != nullptr;
    shape_.has_initial = job_.initial.has_value();
    shape_.finish = job_.finish;
    shape_.has_own_mean = job_.finds_mean;
    if (job_.finds_mean) shape_.subtrahend = job_.types.element.is_complex() ? complex128 : float64;
    shape_.kept = static_cast<int>(axes_.kept.size());
    shape_.reduced = static_cast<int>(axes_.reduced.size());
    shape_.is_large = axes_.outputs > INT32_MAX || axes_.elements > INT32_MAX;
    const auto all = operands();
    shape_.operands = static_cast<int>(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      if (is_by_value(*all[k])) shape_.numbers |= 1 << k;
  }

  // Whether the operand is a number in the memory of the host, for a kernel on a GPU.
  bool is_by_value(const Array& operand) const { return operand.device() != job_.result->device(); }

  std::span<const Array* const> operands() const {
    return job_.computed != nullptr ? job_.computed->source.operands()
                                    : std::span<const Array* const>();
  }

  bool is_aligned(std::int64_t width) const {
    const auto address = reinterpret_cast<std::uintptr_t>(job_.input->data());
    bool aligned = address % 16 == 0 && axes_.kept.back().extent % width == 0;
    for (std::size_t i = 0; i + 1 < axes_.kept.size(); ++i)
      aligned &= axes_.kept[i].input % width == 0;
    for (const JobAxis& axis : axes_.reduced) aligned &= axis.input % width == 0;
    return aligned;
  }

  // Whether blocks are mostly filled by columns.
  bool has_wide_rows() const {
    return axes_.kept.back().extent >= (axes_.elements <= few_column_elements ? wide_row : 32);
  }
  // Whether a thread that visits an output's elements visits them in the order of their indices.
  bool has_index_order() const {
    return axes_.reduced.size() == 1 && axes_.reduced.back().index >= 0;
  }

  void choose_form() {
    if (job_.computed != nullptr) return choose_computed_form();
    const JobAxis &column = axes_.kept.back(), &row = axes_.reduced.back();
    const int width = std::max(1, 16 / job_.types.element.itemsize());
    const bool is_plain = job_.mask == nullptr;
    if (is_plain && axes_.reduced.size() == 1 && row.input == 1 &&
        axes_.elements > few_row_elements) {
      shape_.form = CudaShape::Form::rows;
      shape_.width = width;
    } else if (is_plain && (!info(job_.types.kind).gives_index || has_index_order()) &&
               axes_.is_column && column.input == 1 && has_wide_rows() && axes_.elements > 0) {
      // Values with their indices of 16 bytes of small elements would exceed a block's memory.
      const bool is_narrow = info(job_.types.kind).gives_index && width > 8;
      shape_.form = CudaShape::Form::columns;
      shape_.width = !is_narrow && is_aligned(width) ? width : 1;
    }
  }

  // Rows and columns if the operands' elements are next to each other, or the same.
  void choose_computed_form() {
    const bool is_column = axes_.is_column && !info(job_.types.kind).gives_index &&
                           has_wide_rows() && axes_.elements > 0;
    const bool is_row = axes_.reduced.size() == 1 && axes_.elements > 1 && !axes_.is_column;
    if (!is_column && !is_row) return;
    const OperandStrides& strides = (is_row ? axes_.reduced_strides : axes_.kept_strides).back();
    int constants = 0, widest = 1;
    const auto all = operands();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (strides[k] != 0 && strides[k] != 1) return;
      if (strides[k] == 0)
        constants |= 1 << k;
      else
        widest = std::max(widest, all[k]->dtype().itemsize());
    }
    shape_.form = is_row ? CudaShape::Form::rows : CudaShape::Form::columns;
    shape_.constants = constants & ~shape_.numbers;
    shape_.width = are_operands_aligned(std::max(1, 16 / widest)) ? std::max(1, 16 / widest) : 1;
  }

  // Whether each group of `width` elements that are next to each other is aligned.
  bool are_operands_aligned(int width) const {
    const bool is_row = shape_.form == CudaShape::Form::rows;
    const auto all = operands();
    if (!is_row && axes_.kept.back().extent % width != 0) return false;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (((shape_.constants | shape_.numbers) >> k & 1) != 0) continue;
      const auto bytes = static_cast<std::uintptr_t>(width * all[k]->dtype().itemsize());
      bool aligned = reinterpret_cast<std::uintptr_t>(all[k]->data()) % bytes == 0;
      for (std::size_t i = 0; i + (is_row ? 0 : 1) < axes_.kept.size(); ++i)
        aligned &= axes_.kept_strides[i][k] % width == 0;
      for (std::size_t i = 0; i + (is_row ? 1 : 0) < axes_.reduced.size(); ++i)
        aligned &= axes_.reduced_strides[i][k] % width == 0;
      if (!aligned) return false;
    }
    return true;
  }

  void split_work() {
    split_ = {axes_.outputs, axes_.elements, std::max<std::int64_t>(axes_.elements, 1), 1};
    if (shape_.form == CudaShape::Form::columns) return split_columns();
    const std::int64_t n = axes_.elements;
    // If outputs are adjacent in memory, adjacent threads compute them, one each.
    const bool is_thread_per_output = axes_.is_column && split_.outputs >= 32;
    shape_.group = is_thread_per_output || n <= 8 ? 1 : n <= 128 ? 8 : n <= 2048 ? 32 : 256;
    split_outputs(split_.outputs * shape_.group, shape_.group * thread_elements);
    blocks_ = ceil_div(split_.outputs * split_.pieces, block_threads / shape_.group);
  }

  void split_columns() {
    const std::int64_t columns = axes_.kept.back().extent;
    shape_.group = axes_.elements <= few_column_elements ? 1 : 8;
    const std::int64_t tiles = ceil_div(columns, block_threads / shape_.group * shape_.width);
    const std::int64_t all_tiles = tiles * (split_.outputs / columns);
    split_outputs(all_tiles * block_threads, shape_.group * thread_elements);
    blocks_ = all_tiles * split_.pieces;
  }

  // Splits outputs into pieces of at least `min_elements` elements until enough_threads threads
  // have work; `threads` is their number without a split.
  void split_outputs(std::int64_t threads, std::int64_t min_elements) {
    const std::int64_t pieces = std::min(enough_threads / std::max<std::int64_t>(threads, 1),
                                         split_.elements / min_elements);
    if (pieces <= 1) return;
    // Of adjacent elements a multiple of those per access, so that pieces stay aligned.
    const std::int64_t unit = shape_.form == CudaShape::Form::rows ? 256 : 8;
    split_.piece = ceil_div(ceil_div(split_.elements, pieces), unit) * unit;
    split_.pieces = ceil_div(split_.elements, split_.piece);
  }

  // The numbers of struct JobAxis of reduce_common.cuh.
  std::vector<std::int64_t> packed_axes() const {
    std::vector<std::int64_t> numbers;
    const std::size_t count = operands().size();
    const auto add = [&](const std::vector<JobAxis>& axes,
                         const std::vector<OperandStrides>& strides) {
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const JobAxis& axis = axes[i];
        for (const std::int64_t number : {axis.extent, axis.input, axis.result, axis.mask,
                                          axis.subtrahend, axis.divisor, axis.index})
          numbers.push_back(number);
        if (count > 0)
          numbers.insert(numbers.end(), strides[i].begin(), strides[i].begin() + count);
      }
    };
    add(axes_.kept, axes_.kept_strides);
    add(axes_.reduced, axes_.reduced_strides);
    return numbers;
  }

  OperandBytes operand_bytes(const Array& operand) const {
    OperandBytes bytes{};
    if (!is_by_value(operand)) {
      bytes.words[0] = reinterpret_cast<std::uintptr_t>(operand.data());
    } else {
      std::memcpy(bytes.words, operand.data(),
                  static_cast<std::size_t>(operand.dtype().itemsize()));
    }
    return bytes;
  }

  std::vector<std::byte> packed_arrays() const {
    const auto data = [](const Array* array) { return array != nullptr ? array->data() : nullptr; };
    const ArraysBytes arrays{data(job_.input),    data(job_.mask),     data(job_.subtrahend),
                             data(job_.divisors), job_.result->data(), job_.divisor,
                             job_.correction};
    // The initial value comes last, with its natural alignment; the struct's end is padded to 8
    // bytes.
    const std::size_t initial_bytes =
        shape_.has_initial
            ? (static_cast<std::size_t>(job_.types.accumulator.itemsize()) + 7) / 8 * 8
            : 0;
    const auto all = operands();
    std::vector<std::byte> bytes(sizeof arrays + all.size() * sizeof(OperandBytes) + initial_bytes);
    std::byte* to = bytes.data();
    std::memcpy(to, &arrays, sizeof arrays);
    to += sizeof arrays;
    for (const Array* operand : all) {
      const OperandBytes packed = operand_bytes(*operand);
      std::memcpy(to, &packed, sizeof packed);
      to += sizeof packed;
    }
    if (shape_.has_initial)
      std::memcpy(to, job_.initial->data(),
                  static_cast<std::size_t>(job_.types.accumulator.itemsize()));
    return bytes;
  }

  const ReduceJob& job_;
  JobAxes axes_;
  CudaShape shape_{};
  OutputSplit split_{};
  std::int64_t blocks_ = 1;
};

}  // namespace

bool run_on_cuda(const ReduceJob& job) {
  CudaReduction reduction(job);
  if (job.computed != nullptr && reduction.has_too_many_axes()) return false;
  if (job.finds_mean && !reduction.is_whole()) return false;
  reduction.run();
  return true;
}

}  // namespace spanwise::ops::reduce
