// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu_program.hpp"
#include "spanwise/parallel.hpp"
#include "spanwise/runtime/host_block.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

/// One run.
class CpuProgram::Job {
 public:
  Job(const CpuProgram& program, std::span<const Array* const> inputs,
      std::span<const Array> outputs)
      : program_(program), size_(outputs[0].size()) {
    arrays_.reserve(inputs.size() + outputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      arrays_.push_back({static_cast<std::byte*>(inputs[i]->data()), static_cast<int>(i),
                         inputs[i]->dtype(), inputs[i]});
    for (std::size_t o = 0; o < outputs.size(); ++o)
      arrays_.push_back({static_cast<std::byte*>(outputs[o].data()), program.outputs_[o],
                         outputs[o].dtype(), &outputs[o]});
    find_places(outputs[0].shape());
    find_overwritten();
    find_strips();
  }

  void run() const {
    if (strips_ > 0) return run_in_strips();
    const std::int64_t blocks = (size_ + block_ - 1) / block_;
    parallel_for(blocks, std::max<std::int64_t>(1, program_.grain_ / block_),
                 [&](std::int64_t first, std::int64_t last) {
                   first *= block_;
                   last = std::min(last * block_, size_);
                   std::byte** const places = prepared_places(last - first);
                   for (; first < last; first += block_)
                     run_block(first, std::min(block_, last - first), first + block_, places);
                 });
  }

 private:
  /// An input or output.
  struct Place {
    std::byte* data;
    int index;  ///< its register
    DType dtype;
    const Array* array;
    bool is_direct = true;        ///< its elements stand in the walk's order: used where they are
    bool is_overwritten = false;  ///< of outputs: an input that is read later stands there
    int strip = -1;  ///< of transposed inputs: the number of its buffer of strip_rows_ rows
  };

  std::size_t inputs() const { return static_cast<std::size_t>(program_.inputs_); }
  bool is_number(const Place& place) const {
    return program_.registers_[static_cast<std::size_t>(place.index)].is_number;
  }

  void find_places(const Shape& shape);

  // Within a block, an output is written before the steps after it read their inputs.
  void find_overwritten();

  // A row of a transposed input would use a few bytes of each cache line, and a page for each
  // element: several rows are brought into a buffer together.
  void find_strips();

  void run_in_strips() const;

  // `count` elements of each of `rows` rows, from element `first` on.
  void run_strip(std::int64_t first, std::int64_t rows, std::int64_t count,
                 std::byte** places) const;

  std::int64_t strip_bytes() const { return strip_rows_ * block_ * program_.itemsize_; }
  // Elements from the array's first to element `index` of the walk.
  std::int64_t offset_of(int k, std::int64_t index) const;

  // The registers' memory in this thread, with the numbers of a range of `size` elements; the
  // strips' buffers follow.
  std::byte** prepared_places(std::int64_t size) const;

  // Converts a number, or fills a block with it.
  void prepare(const Instruction& step, std::byte** places, std::int64_t size) const;

  // Elements first to first + count; `next` is the first of the block after it.
  void run_block(std::int64_t first, std::int64_t count, std::int64_t next,
                 std::byte** places) const;

  // Asks for the arrays' next block while this one is computed: a loop waits for memory otherwise,
  // and memory for the loop.
  void fetch_next(std::int64_t first) const;

  // Brings the elements of inputs that are not direct into their buffers, or those of outputs from
  // there to where they belong.
  template <bool gathers>
  void move(std::int64_t first, std::int64_t count, std::byte** places) const {
    const std::size_t begin = gathers ? 0 : inputs(), end = gathers ? inputs() : arrays_.size();
    std::int64_t done = 0;
    const auto move_run = [&](std::byte* const* pointers, std::int64_t run,
                              std::span<const std::int64_t> strides) {
      for (std::size_t k = begin; k < end; ++k) {
        const Place& place = arrays_[k];
        if (is_number(place) || place.strip >= 0 || (place.is_direct && !place.is_overwritten))
          continue;
        const std::int64_t size = place.dtype.itemsize(), step = strides[k] * size;
        std::byte* const buffer = places[place.index] + done * size;
        if (gathers)
          convert_block(place.dtype, place.dtype, {buffer, pointers[k], 1, run, 0, size, 0, step});
        else
          convert_block(place.dtype, place.dtype, {pointers[k], buffer, 1, run, 0, step, 0, size});
      }
      done += run;
    };
    std::byte* data[most_arrays];
    int itemsizes[most_arrays];
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      data[k] = arrays_[k].data;
      itemsizes[k] = arrays_[k].dtype.itemsize();
    }
    if (!walk_) {
      for (std::size_t k = 0; k < arrays_.size(); ++k) data[k] += first * itemsizes[k];
      const std::vector<std::int64_t> ones(arrays_.size(), 1);
      return move_run(data, count, ones);
    }
    const std::span<const std::int64_t> strides = walk_->strides(walk_->rank() - 1);
    for_each_run<most_arrays>(
        *walk_, std::span(data, arrays_.size()), std::span(itemsizes, arrays_.size()), first,
        first + count,
        [&](std::byte* const* pointers, std::int64_t run) { move_run(pointers, run, strides); });
  }

  static constexpr std::int64_t strip_rows_ = 32;  ///< two cache lines of float32

  const CpuProgram& program_;
  std::int64_t size_;
  int strips_ = 0;             ///< transposed inputs
  std::vector<Place> arrays_;  // inputs, then outputs
  std::optional<Walk> walk_;   // where an array is not as the others
};

}  // namespace spanwise::ops
