// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy/run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/copy/block.hpp"
#include "backends/cpu/copy/plan.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
namespace {

constexpr std::int64_t block_bytes = 1
                                     << 16;  // a unit of work: small beside L2, large beside a call
constexpr std::int64_t parallel_bytes = 1 << 20;  // below this one thread is as fast as two

// A plan cut into blocks: two axes go to the kernel, piece by piece, the others are counted
// through.
class BlockedCopy {
 public:
  BlockedCopy(const CopyPlan& plan, BlockKernel kernel, int row_axis, std::int64_t item_bytes,
              std::int64_t rows_at_once, std::int64_t columns_at_once)
      : plan_(plan), kernel_(kernel), item_bytes_(item_bytes) {
    if (plan_.rank > 0) columns_ = plan_.axes[static_cast<std::size_t>(plan_.rank - 1)];
    columns_at_once_ = columns_at_once;
    rows_at_once_ = rows_at_once;
    if (row_axis >= 0) rows_ = plan_.axes[static_cast<std::size_t>(row_axis)];
    for (int i = 0; i + 1 < plan_.rank; ++i)
      if (i != row_axis)
        outer_[static_cast<std::size_t>(outer_rank_++)] = plan_.axes[static_cast<std::size_t>(i)];
    column_pieces_ = pieces(columns_.extent, columns_at_once_);
    row_pieces_ = pieces(rows_.extent, rows_at_once_);
  }

  void run() {
    std::int64_t units = column_pieces_ * row_pieces_;
    for (int i = 0; i < outer_rank_; ++i) units *= outer_[static_cast<std::size_t>(i)].extent;
    ThreadPool& pool = ThreadPool::instance();
    const int workers = plan_.size() * item_bytes_ < parallel_bytes ? 1 : pool.workers();
    const std::int64_t chunks = workers == 1 ? 1 : std::min<std::int64_t>(units, 8 * workers);
    const auto work = [&](std::uint64_t chunk) {
      const auto index = static_cast<std::int64_t>(chunk);
      run_units(share(units, chunks, index), share(units, chunks, index + 1));
    };
    if (chunks == 1) return work(0);
    pool.run(static_cast<std::uint64_t>(chunks), Helpers::at_once, work);
  }

 private:
  static std::int64_t pieces(std::int64_t extent, std::int64_t at_once) {
    return (extent + at_once - 1) / at_once;
  }
  // units * index / chunks without its overflow.
  static std::int64_t share(std::int64_t units, std::int64_t chunks, std::int64_t index) {
    return units / chunks * index + units % chunks * index / chunks;
  }

  void run_units(std::int64_t first, std::int64_t last) const {
    for (std::int64_t unit = first; unit < last; ++unit) {
      std::int64_t rest = unit;
      const std::int64_t column = rest % column_pieces_ * columns_at_once_;
      rest /= column_pieces_;
      const std::int64_t row = rest % row_pieces_ * rows_at_once_;
      rest /= row_pieces_;
      std::int64_t target = column * columns_.target_step + row * rows_.target_step;
      std::int64_t source = column * columns_.source_step + row * rows_.source_step;
      for (int i = outer_rank_ - 1; i >= 0; --i) {
        const Axis& axis = outer_[static_cast<std::size_t>(i)];
        target += rest % axis.extent * axis.target_step;
        source += rest % axis.extent * axis.source_step;
        rest /= axis.extent;
      }
      kernel_({plan_.target + target, plan_.source + source,
               std::min(rows_at_once_, rows_.extent - row),
               std::min(columns_at_once_, columns_.extent - column), rows_.target_step,
               columns_.target_step, rows_.source_step, columns_.source_step});
    }
  }

  const CopyPlan& plan_;
  BlockKernel kernel_;
  std::int64_t item_bytes_;
  Axis columns_{}, rows_{};
  std::int64_t columns_at_once_, rows_at_once_, column_pieces_, row_pieces_;
  std::array<Axis, max_rank + 1> outer_;
  int outer_rank_ = 0;
};

// The axis along which the source runs fastest, where that is not the innermost: copying by the
// target's order alone would use one element of each source line before it is thrown out.
std::optional<int> crossing_axis(const CopyPlan& plan, std::int64_t line) {
  if (plan.rank < 2) return {};
  const auto step = [&](int i) {
    const std::int64_t s = plan.axes[static_cast<std::size_t>(i)].source_step;
    return s < 0 ? -s : s;
  };
  const int inner = plan.rank - 1;
  int fastest = inner;
  for (int i = 0; i < inner; ++i)
    if (step(i) != 0 && step(i) < step(fastest)) fastest = i;
  const bool crosses = fastest != inner && step(fastest) * 2 <= line;
  return crosses ? std::optional(fastest) : std::nullopt;
}

// An innermost run that is itself a word of the machine is one element of that size.
int widen_word(CopyPlan& plan, int bytes) {
  if (plan.rank == 0) return bytes;
  const Axis& inner = plan.axes[static_cast<std::size_t>(plan.rank - 1)];
  if (inner.target_step != bytes || inner.source_step != bytes || inner.extent > 16 / bytes)
    return bytes;
  const auto run = static_cast<int>(inner.extent * bytes);
  if (run != 2 && run != 4 && run != 8 && run != 16) return bytes;
  --plan.rank;
  return run;
}

// Elements of 3, 12, ... bytes are bytes along one more axis.
int split_odd_element(CopyPlan& plan, int bytes) {
  if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) return bytes;
  plan.axes[static_cast<std::size_t>(plan.rank++)] = {bytes, 1, 1};
  return 1;
}

void move(CopyPlan plan, int bytes) {
  bytes = widen_word(plan, split_odd_element(plan, bytes));
  const int row_axis = plan.rank - 2;
  const std::int64_t many = std::max<std::int64_t>(1, block_bytes / bytes);
  const Axis inner = plan.rank > 0 ? plan.axes[static_cast<std::size_t>(plan.rank - 1)] : Axis{};
  if (inner.target_step == bytes && inner.source_step == bytes) {
    // Whole rows as bytes: one axis of the plan, `columns` of the kernel.
    Axis& run = plan.axes[static_cast<std::size_t>(plan.rank - 1)];
    run = {run.extent * bytes, 1, 1};
    const std::int64_t rows = std::max<std::int64_t>(1, block_bytes / run.extent);
    return BlockedCopy(plan, copy_rows, row_axis, 1, rows, block_bytes * 4).run();
  }
  if (const auto crossing = crossing_axis(plan, 64)) {
    const Axis& rows = plan.axes[static_cast<std::size_t>(*crossing)];
    const bool transposes = inner.target_step == bytes && rows.source_step == bytes;
    const BlockKernel kernel = transposes ? transpose_kernel(bytes) : move_kernel(bytes);
    const std::int64_t side = transposes ? 128 : 16;
    return BlockedCopy(plan, kernel, *crossing, bytes, side, side).run();
  }
  const std::int64_t rows =
      std::max<std::int64_t>(1, many / std::max<std::int64_t>(1, inner.extent));
  BlockedCopy(plan, move_kernel(bytes), row_axis, bytes, rows, many).run();
}

void cast(const CopyPlan& plan, DType from, DType to) {
  const std::int64_t bytes = std::max(from.itemsize(), to.itemsize());
  const BlockKernel kernel = cast_kernel(from, to);
  if (const auto crossing = crossing_axis(plan, 64))
    return BlockedCopy(plan, kernel, *crossing, bytes, 16, 16).run();
  const std::int64_t many = block_bytes / bytes;
  const std::int64_t columns =
      plan.rank > 0 ? plan.axes[static_cast<std::size_t>(plan.rank - 1)].extent : 1;
  const std::int64_t rows = std::max<std::int64_t>(1, many / columns);
  BlockedCopy(plan, kernel, plan.rank - 2, bytes, rows, many).run();
}

bool all_bytes_equal(const std::byte* bytes, int count) {
  return std::all_of(bytes, bytes + count, [&](std::byte b) { return b == bytes[0]; });
}

void set_bytes(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    std::memset(b.target + row * b.target_row_step, static_cast<int>(*b.source),
                static_cast<std::size_t>(b.columns));
}

}  // namespace

void copy(const Array& source, const Array& target) {
  if (target.size() == 0) return;
  const CopyPlan plan = CopyPlan::make(source, target);
  if (source.dtype() != target.dtype()) return cast(plan, source.dtype(), target.dtype());
  move(plan, target.dtype().itemsize());
}

void fill(const Array& target, const Scalar& value) {
  require<DTypeError>(value.dtype() == target.dtype(), "cpu fill: value is ", value.dtype(),
                      ", array is ", target.dtype(), "; expected one dtype");
  if (target.size() == 0) return;
  CopyPlan plan = CopyPlan::make(target);
  const int bytes = target.dtype().itemsize();
  plan.source = static_cast<const std::byte*>(value.data());
  if (plan.rank > 0 && all_bytes_equal(plan.source, bytes)) {
    Axis& inner = plan.axes[static_cast<std::size_t>(plan.rank - 1)];
    if (inner.target_step == bytes) {
      inner = {inner.extent * bytes, 1, 0};
      const std::int64_t rows = std::max<std::int64_t>(1, block_bytes / inner.extent);
      return BlockedCopy(plan, set_bytes, plan.rank - 2, 1, rows, block_bytes * 4).run();
    }
  }
  move(plan, bytes);
}

}  // namespace spanwise::host
