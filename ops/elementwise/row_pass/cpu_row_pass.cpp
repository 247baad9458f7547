// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "row_pass.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "spanwise/core/device.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

// Bytes of a matrix that stay in a core's L2 cache beside other data.
constexpr std::int64_t block_bytes = 512 << 10;
// Bytes of a matrix above which the next block of rows is prefetched while one is added, because it
// is in the L3 cache or in memory. Both blocks share the L2 cache.
constexpr std::int64_t prefetched_matrix_bytes = 4 << 20;

template <class T>
T* elements(const Array& array) {
  return static_cast<T*>(array.data());
}

template <class T>
double sum_of(const T* values, std::int64_t count) {
  constexpr std::int64_t chains = 8;  // independent additions
  double sums[chains] = {};
  for (std::int64_t i = 0; i < count; ++i) sums[i % chains] += values[i];
  return std::accumulate(sums, sums + chains, 0.0);
}

// Whether each input of the program is one number in all calls.
std::vector<bool> are_numbers(const RowPass& pass, std::span<const int> ranks) {
  std::vector<bool> is_number;
  is_number.reserve(pass.program.inputs.size());
  std::size_t position = 2;
  for (std::size_t i = 0; i < pass.program.inputs.size(); ++i)
    is_number.push_back(static_cast<int>(i) != pass.product_input && ranks[position++] == 0);
  return is_number;
}

/// The rows of one call, which are computed by blocks.
template <class T>
class Rows {
 public:
  Rows(const RowPass& pass, const CpuProgram& program, std::span<const Array* const> inputs,
       std::span<const Array> outputs, const Array& products)
      : program_(program, program_inputs(pass, inputs, products),
                 outputs.first(pass.columns_position())),
        products_(elements<T>(products)),
        weights_(elements<T>(outputs[static_cast<std::size_t>(pass.weights_output)])),
        has_sum_(pass.has_sum) {
    const Array &x = *inputs[0], &w = *inputs[1];
    columns_ = x.shape()[1];
    product_ = {.matrix = elements<T>(x),
                .row_stride = x.shape()[0] == 1 ? columns_ : x.strides()[0],
                .column_stride = 1,
                .x = elements<T>(w),
                .x_stride = w.size() == 1 ? 1 : w.strides()[0],
                .depth = columns_};
    const std::int64_t row_bytes = columns_ * static_cast<std::int64_t>(sizeof(T));
    const bool prefetches = x.shape()[0] * row_bytes > prefetched_matrix_bytes;
    block_rows_ =
        std::max<std::int64_t>(8, (prefetches ? block_bytes / 2 : block_bytes) / row_bytes);
    if (prefetches) prefetched_rows_ = x.shape()[0];
  }

  /// Writes the sum of rows `first` to `last`, each times its result g, to `sums`. Returns the sum
  /// of g.
  double add(std::int64_t first, std::int64_t last, T* sums) const {
    double total = 0;
    const std::int64_t blocks = (last - first + block_rows_ - 1) / block_rows_;
    for (std::int64_t i = 0; i < blocks; ++i)
      total += add_block(first + GemvParts::split(last - first, i, blocks),
                         first + GemvParts::split(last - first, i + 1, blocks), sums, i == 0);
    return total;
  }

 private:
  static std::vector<const Array*> program_inputs(const RowPass& pass,
                                                  std::span<const Array* const> inputs,
                                                  const Array& products) {
    const auto row_inputs = inputs.subspan(2, pass.row_inputs());
    std::vector<const Array*> all(row_inputs.begin(), row_inputs.end());
    all.insert(all.begin() + pass.product_input, &products);
    return all;
  }

  double add_block(std::int64_t first, std::int64_t last, T* sums, bool is_first) const {
    HostGemv<T> product = product_;
    product.matrix += first * product.row_stride;
    product.rows = last - first;
    product.y = products_ + first;
    gemv_by_rows(product);
    program_.run(first, last);
    const bool has_next = 2 * last - first <= prefetched_rows_;
    gemv_by_columns(
        HostGemv<T>{.matrix = product.matrix,
                    .row_stride = 1,
                    .column_stride = product.row_stride,
                    .x = weights_ + first,
                    .y = sums,
                    .rows = columns_,
                    .depth = last - first,
                    .beta = 1,
                    .addend = is_first ? nullptr : sums,
                    .next = has_next ? product_.matrix + last * product.row_stride : nullptr});
    return has_sum_ ? sum_of(weights_ + first, last - first) : 0;
  }

  CpuProgram::PartialRun program_;
  T* products_;
  const T* weights_;
  bool has_sum_;
  HostGemv<T> product_;
  std::int64_t columns_ = 0, block_rows_ = 0;
  std::int64_t prefetched_rows_ = 0;  ///< the next block is prefetched if it ends before this row
};

/// Parts of the rows, whose sums are added in their order, so that results do not depend on the
/// threads. Of a matrix that stays in the caches, the calling thread takes parts from the start and
/// helpers from the end: in the next call each finds most of its rows in its own cache. Parts in
/// the middle are smaller, so that threads end at about the same time although helpers begin later.
class RowParts {
 public:
  RowParts(std::int64_t rows, std::int64_t row_bytes)
      : rows_(rows), is_cached_(rows * row_bytes <= cache_bytes) {
    const std::int64_t count = GemvParts(rows, row_bytes).count();
    count_ = count == 2 && rows >= min_rows ? 4 : count;
  }

  std::int64_t count() const noexcept { return count_; }
  /// The first row of a part, or the end of the last one.
  std::int64_t start(std::int64_t part) const noexcept {
    // Of each half, the first share t of the parts has 1 - (1 - t)^2 of the rows.
    const std::int64_t half = count_ / 2, left = half - std::min(part, count_ - part);
    const std::int64_t shares = 2 * half * half;
    if (!is_cached_ || rows_ < shares * unit || half == 0)
      return GemvParts::split(rows_, part, count_);
    const std::int64_t rows = rows_ * (half * half - left * left) / shares / unit * unit;
    return part <= half ? rows : rows_ - rows;
  }
  /// The next part for the calling thread, where parts before `number` were taken by any thread.
  std::int64_t take(std::int64_t number) noexcept {
    if (!is_cached_) return number;
    if (std::this_thread::get_id() == caller_) return taken_++;
    return count_ - 1 - helped_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  // The rows from which a matrix has 4 parts instead of 2, so that those in the middle are smaller.
  static constexpr std::int64_t min_rows = 256;
  // Rows that the loops take at a time.
  static constexpr std::int64_t unit = 16;
  // Bytes of a matrix that stays in the caches of the cores together.
  static constexpr std::int64_t cache_bytes = 32 << 20;

  std::int64_t rows_, count_ = 1;
  bool is_cached_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::int64_t taken_ = 0;  // by the caller
  std::atomic<std::int64_t> helped_{0};
};

/// Each row of `partial` becomes the sum of a part of the rows, each times its result g. Returns
/// the sum of g.
template <class T>
double add_in_parts(const Rows<T>& all, RowParts& parts, const Array& partial) {
  std::vector<double> totals(static_cast<std::size_t>(parts.count()));
  parallel_for(parts.count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) {
      const std::int64_t i = parts.take(first);
      totals[static_cast<std::size_t>(i)] = all.add(parts.start(i), parts.start(i + 1),
                                                    elements<T>(partial) + i * partial.shape()[1]);
    }
  });
  return std::accumulate(totals.begin(), totals.end(), 0.0);
}

}  // namespace

CpuRowPass::CpuRowPass(const RowPass& pass, std::span<const int> ranks)
    : pass_(pass), program_(pass.program, are_numbers(pass, ranks)) {
  if (pass.sum_program)
    sum_program_.emplace(*pass.sum_program,
                         std::vector<bool>(pass.sum_program->inputs.size(), false));
}

bool CpuRowPass::accepts(std::span<const Array* const> inputs) const {
  return is_item_aligned(*inputs[0]) && is_item_aligned(*inputs[1]) &&
         (!pass_.has_addend || is_item_aligned(*inputs[pass_.addend_position()]));
}

void CpuRowPass::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  for (const Array* input : inputs) order_host_use(*input, false);
  for (const Array& output : outputs) order_host_use(output, true);
  if (pass_.dtype() == float32)
    run_in<float>(inputs, outputs);
  else
    run_in<double>(inputs, outputs);
}

template <class T>
void CpuRowPass::run_in(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  const std::int64_t rows = inputs[0]->shape()[0], columns = inputs[0]->shape()[1];
  RowParts parts(rows, columns * static_cast<std::int64_t>(sizeof(T)));
  const Array& partial = cached_array(partial_, {parts.count(), columns}, pass_.dtype(), cpu);
  const Array& products = cached_array(products_, {rows}, pass_.dtype(), cpu);
  const Rows<T> all(pass_, program_, inputs, outputs, products);
  const double total = add_in_parts(all, parts, partial);
  std::size_t next = pass_.columns_position();
  HostGemv<T> sums{.y = elements<T>(outputs[next++]),
                   .rows = columns,
                   .alpha = static_cast<T>(pass_.alpha),
                   .beta = static_cast<T>(pass_.beta)};
  if (pass_.has_addend) {
    const Array& addend = *inputs[pass_.addend_position()];
    sums.addend = elements<T>(addend);
    sums.addend_stride = vector_stride(addend);
  }
  add_partial_sums(elements<T>(partial), parts.count(), sums);
  if (!pass_.has_sum) return;
  const Array& sum = outputs[next++];
  *elements<T>(sum) = static_cast<T>(total);
  if (!sum_program_) return;
  std::vector<const Array*> numbers(
      inputs.begin() + static_cast<std::ptrdiff_t>(pass_.sum_program_position()), inputs.end());
  numbers.insert(numbers.begin() + pass_.sum_input, &sum);
  sum_program_->run(numbers, outputs.subspan(next));
}

}  // namespace spanwise::ops
