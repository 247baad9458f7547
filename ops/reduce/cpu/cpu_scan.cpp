// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include "../reduce_job.hpp"
#include "reduce_loops.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops::reduce {
namespace {

constexpr std::int64_t scan_segment = 512;    // accumulators that fit in the L1 cache
constexpr std::int64_t scan_piece = 1 << 15;  // elements; independent of the number of threads
constexpr std::int64_t scan_grain = 1 << 14;  // elements that are worth a thread

class CpuScan {
 public:
  explicit CpuScan(const ScanJob& job)
      : job_(job),
        loops_(find_loops(job.types)),
        lines_input_(job.input->layout().index(job.axis, 0)),
        lines_result_(job.result->layout().index(job.axis, 0)),
        walk_(lines_input_.shape, layouts(), 0),
        length_(job.input->shape()[job.axis]),
        step_(job.input->strides()[job.axis]),
        result_step_(job.result->strides()[job.axis]),
        input_size_(job.types.element.itemsize()),
        result_size_(job.result->dtype().itemsize()) {}

  void run() {
    const int inner = walk_.rank() - 1;
    const std::int64_t columns = walk_.extent(inner);
    // Scans lines side by side if they are adjacent in memory, or so short that a call for each
    // would dominate.
    constexpr std::int64_t short_line = 24;
    const bool is_adjacent = walk_.stride(inner, 0) == 1 && step_ != 1;
    if ((is_adjacent || length_ <= short_line) && columns >= 8) return run_columns();
    // One pass over short lines of integers is as fast as two passes by several threads. Other
    // types take two passes: their results depend on the order of additions.
    const bool is_short = job_.types.accumulator.is_integer() && length_ < 8 * scan_piece;
    if (walk_.size() < 8 && length_ >= 2 * scan_piece && !is_short && !must_be_sequential())
      return run_two_passes();
    const std::int64_t grain =
        std::max<std::int64_t>(1, scan_grain / std::max<std::int64_t>(length_, 1));
    for_each_line(grain, [this](const std::byte* in, std::byte* out) {
      alignas(16) std::byte carry[max_accumulator_bytes];
      loops_.clear(carry, 1);
      scan_line(in, out, length_, carry);
    });
  }

 private:
  // The product of a piece may be infinite or 0 although its product with the pieces before it is
  // not.
  bool must_be_sequential() const {
    const DType dtype = job_.types.accumulator;
    return job_.types.kind == ReductionKind::prod && (dtype.is_floating() || dtype.is_complex());
  }
  std::array<const Layout*, 2> layouts() const { return {&lines_input_, &lines_result_}; }
  std::byte* input() const { return static_cast<std::byte*>(job_.input->data()); }
  std::byte* result() const { return static_cast<std::byte*>(job_.result->data()); }

  // for_each_run() over the first elements of the lines [first, last), in input and result.
  template <class F>
  void for_each_run_of_lines(std::int64_t first, std::int64_t last, F&& run) const {
    const int sizes[] = {input_size_, result_size_};
    std::byte* const data[] = {input(), result()};
    for_each_run(walk_, data, sizes, first, last, run);
  }

  template <class F>
  void for_each_line(std::int64_t grain, F&& f) const {
    const int inner = walk_.rank() - 1;
    const std::int64_t in_step = walk_.stride(inner, 0) * input_size_;
    const std::int64_t out_step = walk_.stride(inner, 1) * result_size_;
    parallel_for(walk_.size(), grain, [&](std::int64_t first, std::int64_t last) {
      for_each_run_of_lines(first, last, [&](std::byte* const* at, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) f(at[0] + i * in_step, at[1] + i * out_step);
      });
    });
  }

  void scan_line(const std::byte* in, std::byte* out, std::int64_t n, void* carry) const {
    if (is_direct()) return loops_.scan(in, step_, n, carry, out);
    alignas(16) std::byte sums[scan_segment * 16];
    for (std::int64_t i = 0; i < n; i += scan_segment) {
      const std::int64_t count = std::min(scan_segment, n - i);
      loops_.scan(in + i * step_ * input_size_, step_, count, carry, sums);
      store(job_.types.accumulator, sums, count, job_.result->dtype(),
            out + i * result_step_ * result_size_, result_step_);
    }
  }

  // Whether the result's elements are contiguous, aligned accumulators, to which the kernel can
  // write.
  bool is_direct() const {
    const auto size = static_cast<std::uintptr_t>(result_size_);
    return job_.result->dtype() == job_.types.accumulator && result_step_ == 1 &&
           result_size_ == loops_.accumulator_bytes &&
           reinterpret_cast<std::uintptr_t>(result()) % size == 0;
  }

  // Scans a long line in two passes: the sum of each piece, then each piece from the sum of those
  // before it.
  void run_two_passes() {
    const std::int64_t pieces = (length_ + scan_piece - 1) / scan_piece;
    const auto carries =
        std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(pieces * 2));
    const auto carry = [&](std::int64_t piece) { return carries.get() + piece * 2; };
    for_each_line(walk_.size(), [&](const std::byte* in, std::byte* out) {
      parallel_for(pieces, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) {
          const std::int64_t at = p * scan_piece;
          const ElementBlock block{.data = in + at * step_ * input_size_,
                                   .rows = std::min(scan_piece, length_ - at),
                                   .row_step = step_};
          loops_.clear(carry(p), 1);
          loops_.add(block, carry(p));
        }
      });
      alignas(16) double before[2];
      loops_.clear(before, 1);
      for (std::int64_t p = 0; p < pieces; ++p) {
        const double part[2] = {carry(p)[0], carry(p)[1]};
        std::copy_n(before, 2, carry(p));
        loops_.join(before, part, 1);
      }
      parallel_for(pieces, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t p = first; p < last; ++p) {
          const std::int64_t at = p * scan_piece;
          scan_line(in + at * step_ * input_size_, out + at * result_step_ * result_size_,
                    std::min(scan_piece, length_ - at), carry(p));
        }
      });
    });
  }

  void run_columns() {
    const int inner = walk_.rank() - 1;
    const std::int64_t columns = walk_.extent(inner), outer = walk_.size() / columns;
    const std::int64_t tiles = (columns + scan_segment - 1) / scan_segment;
    const std::int64_t tile_elements = std::min(columns, scan_segment) * length_;
    const std::int64_t grain =
        std::max<std::int64_t>(1, scan_grain / std::max<std::int64_t>(tile_elements, 1));
    parallel_for(outer * tiles, grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t task = first; task < last; ++task) {
        const std::int64_t column = task % tiles * scan_segment;
        const std::int64_t count = std::min(scan_segment, columns - column);
        const std::int64_t start = task / tiles * columns + column;
        for_each_run_of_lines(start, start + count, [&](std::byte* const* at, std::int64_t n) {
          scan_columns(at[0], at[1], n);
        });
      }
    });
  }

  void scan_columns(const std::byte* in, std::byte* out, std::int64_t count) const {
    alignas(64) std::byte sums[scan_segment * 16];
    loops_.clear(sums, count);
    const int inner = walk_.rank() - 1;
    ElementBlock block{.columns = count, .rows = 1, .column_step = walk_.stride(inner, 0)};
    const std::int64_t out_step = walk_.stride(inner, 1);
    for (std::int64_t i = 0; i < length_; ++i) {
      block.data = in + i * step_ * input_size_;
      loops_.add(block, sums);
      store(job_.types.accumulator, sums, count, job_.result->dtype(),
            out + i * result_step_ * result_size_, out_step);
    }
  }

  const ScanJob& job_;
  const ReduceLoops& loops_;
  Layout lines_input_, lines_result_;
  Walk walk_;
  std::int64_t length_, step_, result_step_;
  int input_size_, result_size_;
};

}  // namespace

void scan_on_cpu(const ScanJob& job) {
  if (job.input->size() > 0) CpuScan(job).run();
}

}  // namespace spanwise::ops::reduce
