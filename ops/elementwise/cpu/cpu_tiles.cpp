// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "operand_cursor.hpp"
#include "spanwise/parallel.hpp"
#include "spanwise/runtime/host_block.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

// Kernels need contiguous, aligned elements of one dtype. Operands with other dtypes or layouts,
// and numbers, are converted into a buffer of this size first, which fits in the L1 cache.
constexpr std::int64_t buffer_bytes = 1 << 13;

class TiledJob {
 public:
  TiledJob(const Signature& signature, const CpuKernel& kernel, std::span<const Operand> operands,
           const Array& result, const Array* where)
      : kernel_(kernel),
        inputs_(static_cast<int>(operands.size())),
        walk_(make_walk(operands, result, where)),
        inner_(walk_.rank() - 1) {
    for (int i = 0; i < inputs_; ++i) {
      const Operand& operand = operands[static_cast<std::size_t>(i)];
      OperandCursor& cursor = cursors_[static_cast<std::size_t>(i)];
      const DType wanted = cpu_compute(signature, signature.operand(i));
      if (operand.array != nullptr) {
        cursor = OperandCursor(*operand.array, wanted, walk_, i, /*is_result=*/false);
      } else {
        numbers_[static_cast<std::size_t>(i)] = operand.scalar.cast(wanted);
        cursor = OperandCursor(numbers_[static_cast<std::size_t>(i)]);
      }
    }
    target() = OperandCursor(result, cpu_compute(signature, signature.result), walk_, inputs_,
                             /*is_result=*/true);
    if (where != nullptr) {
      mask_ = static_cast<const std::byte*>(where->data());
      mask_step_ = walk_.stride(inner_, inputs_ + 1);
    }
    choose_tiles();
  }

  void run() {
    const std::int64_t grain = std::max<std::int64_t>(1, kernel_.grain / tile_size_);
    parallel_for(tiles_, grain,
                 [this](std::int64_t first, std::int64_t last) { run_tiles(first, last); });
  }

 private:
  OperandCursor& target() noexcept { return cursors_[static_cast<std::size_t>(inputs_)]; }
  const OperandCursor& target() const noexcept {
    return cursors_[static_cast<std::size_t>(inputs_)];
  }

  static Walk make_walk(std::span<const Operand> operands, const Array& result,
                        const Array* where) {
    static const Layout nothing{};
    std::array<const Layout*, max_operands + 1> layouts;
    std::size_t count = 0;
    for (const Operand& operand : operands)
      layouts[count++] = operand.array != nullptr ? &operand.array->layout() : &nothing;
    layouts[count++] = &result.layout();
    if (where != nullptr) layouts[count++] = &where->layout();
    return Walk(result.shape(), std::span(layouts.data(), count),
                static_cast<int>(operands.size()));
  }

  // How the kernel accesses rows.
  enum class Mode {
    direct,       // in place
    with_number,  // in place; operands after the first are one element per row
    strided,      // in place, with the kernel's strided loop
    buffered,     // converted into buffers, tile by tile
  };

  Mode find_mode() const {
    bool all_native = mask_ == nullptr, all_direct = all_native, has_steps = false;
    for (int i = 0; i <= inputs_; ++i) {
      const OperandCursor& cursor = cursors_[static_cast<std::size_t>(i)];
      all_native &= cursor.is_native;
      all_direct &= cursor.is_direct;
      has_steps |= !cursor.is_direct && (cursor.step != 0 || i == inputs_);
    }
    if (all_direct) return Mode::direct;
    if (!all_native) return Mode::buffered;
    bool others_constant = cursors_[0].is_direct && target().is_direct;
    for (int i = 1; i < inputs_; ++i)
      others_constant &= cursors_[static_cast<std::size_t>(i)].step == 0;
    if (others_constant && kernel_.with_number != nullptr) return Mode::with_number;
    const bool in_place = has_steps && kernel_.strided != nullptr && !has_transposed();
    return in_place ? Mode::strided : Mode::buffered;
  }

  bool has_transposed() const {
    if (walk_.extent(inner_) < min_side || rows_extent_ < min_side) return false;
    return std::any_of(cursors_.begin(), cursors_.begin() + inputs_ + 1,
                       [](const OperandCursor& cursor) { return cursor.is_transposed(); });
  }

  // A tile has some columns of some rows; one row if rows are long.
  void choose_tiles() {
    const std::int64_t columns = walk_.extent(inner_);
    std::int64_t widest = 1;
    for (int i = 0; i <= inputs_; ++i)
      widest = std::max(widest, cursors_[static_cast<std::size_t>(i)].compute_size);
    rows_extent_ = inner_ > 0 ? walk_.extent(inner_ - 1) : 1;
    mode_ = find_mode();
    const std::int64_t max_columns =
        mode_ == Mode::buffered ? buffer_bytes / widest : direct_columns;
    columns_ = std::min(columns, max_columns);
    const bool has_rows = mode_ == Mode::buffered && mask_ == nullptr;
    if (has_rows && has_transposed()) columns_ = std::min(columns, transposed_columns);
    if (has_rows && columns_ < max_columns)
      rows_ = std::clamp<std::int64_t>(max_columns / columns_, 1, rows_extent_);
    column_tiles_ = (columns + columns_ - 1) / columns_;
    row_tiles_ = (rows_extent_ + rows_ - 1) / rows_;
    tiles_ = column_tiles_ * row_tiles_;
    for (int axis = 0; axis < inner_ - 1; ++axis) tiles_ *= walk_.extent(axis);
    tile_size_ = columns_ * rows_;
  }

  struct TilePosition {
    std::array<std::byte*, max_operands> data;
    const std::byte* mask;
    std::int64_t row, column;
  };

  TilePosition tile_position(std::int64_t tile) const {
    TilePosition position{};
    position.column = tile % column_tiles_ * columns_;
    tile /= column_tiles_;
    position.row = tile % row_tiles_ * rows_;
    tile /= row_tiles_;
    for (int i = 0; i <= inputs_; ++i) {
      const OperandCursor& cursor = cursors_[static_cast<std::size_t>(i)];
      position.data[static_cast<std::size_t>(i)] =
          cursor.data + position.column * cursor.step + position.row * cursor.row_step;
    }
    position.mask = mask_ + position.column * mask_step_;
    if (mask_ != nullptr && inner_ > 0)
      position.mask += position.row * walk_.stride(inner_ - 1, inputs_ + 1);
    for (int axis = inner_ - 2; axis >= 0; --axis) {
      const std::int64_t extent = walk_.extent(axis), index = tile % extent;
      tile /= extent;
      if (index == 0) continue;
      for (int i = 0; i <= inputs_; ++i) {
        const OperandCursor& cursor = cursors_[static_cast<std::size_t>(i)];
        position.data[static_cast<std::size_t>(i)] +=
            index * walk_.stride(axis, i) * cursor.itemsize;
      }
      if (mask_ != nullptr) position.mask += index * walk_.stride(axis, inputs_ + 1);
    }
    return position;
  }

  void run_tiles(std::int64_t first, std::int64_t last) const {
    if (mode_ == Mode::buffered) return run_buffered(first, last);
    std::int64_t steps[max_operands];
    for (int i = 0; i <= inputs_; ++i) steps[i] = cursors_[static_cast<std::size_t>(i)].step;
    for (std::int64_t tile = first; tile < last; ++tile) {
      const TilePosition position = tile_position(tile);
      const std::int64_t columns = std::min(columns_, walk_.extent(inner_) - position.column);
      if (mode_ == Mode::strided)
        kernel_.strided(columns, position.data.data(), steps);
      else
        (mode_ == Mode::direct ? kernel_.loop : kernel_.with_number)(kernel_.context, columns,
                                                                     position.data.data());
    }
  }

  // The buffers of one thread.
  struct Buffers {
    alignas(64) std::byte bytes[max_operands][buffer_bytes];
    std::int64_t filled[max_operands] = {};  // valid elements of a repeated operand
    const std::byte* source[max_operands] = {};
  };

  void run_buffered(std::int64_t first, std::int64_t last) const {
    Buffers buffers;
    for (std::int64_t tile = first; tile < last; ++tile) {
      const TilePosition position = tile_position(tile);
      const std::int64_t columns = std::min(columns_, walk_.extent(inner_) - position.column);
      const std::int64_t rows = std::min(rows_, rows_extent_ - position.row);
      std::byte* arrays[max_operands];
      for (int i = 0; i < inputs_; ++i)
        arrays[i] =
            load_tile(i, position.data[static_cast<std::size_t>(i)], rows, columns, buffers);
      std::byte* const target_data = position.data[static_cast<std::size_t>(inputs_)];
      const bool is_direct = target().is_usable_directly(rows, columns);
      arrays[inputs_] = is_direct ? target_data : buffers.bytes[inputs_];
      if (mask_ != nullptr) {
        run_masked(position, columns, arrays, is_direct);
        continue;
      }
      kernel_(rows * columns, arrays);
      if (!is_direct) scatter(arrays[inputs_], target_data, rows, columns);
    }
  }

  // The operand's tile in the kernel's dtype and layout: in place or in a buffer.
  std::byte* load_tile(int index, std::byte* data, std::int64_t rows, std::int64_t columns,
                       Buffers& buffers) const {
    const OperandCursor& cursor = cursors_[static_cast<std::size_t>(index)];
    if (cursor.is_usable_directly(rows, columns)) return data;
    std::byte* buffer = buffers.bytes[index];
    const bool is_repeated = cursor.is_constant || (cursor.step == 0 && rows == 1);
    std::int64_t& filled = buffers.filled[index];
    if (is_repeated && buffers.source[index] == data && filled >= rows * columns) return buffer;
    convert_block(cursor.dtype, cursor.compute,
                  {buffer, data, rows, columns, columns * cursor.compute_size, cursor.compute_size,
                   cursor.row_step, cursor.step});
    buffers.source[index] = data;
    filled = is_repeated ? rows * columns : 0;
    return buffer;
  }

  void scatter(const std::byte* from, std::byte* to, std::int64_t rows,
               std::int64_t columns) const {
    const OperandCursor& cursor = target();
    convert_block(cursor.compute, cursor.dtype,
                  {to, from, rows, columns, cursor.row_step, cursor.step,
                   columns * cursor.compute_size, cursor.compute_size});
  }

  // Computes only elements that the mask selects: others may be invalid, such as negative
  // exponents.
  void run_masked(const TilePosition& position, std::int64_t columns, std::byte* const* arrays,
                  bool is_direct) const {
    const auto is_wanted = [&](std::int64_t i) {
      return position.mask[i * mask_step_] != std::byte{0};
    };
    for (std::int64_t i = 0; i < columns;) {
      if (!is_wanted(i)) {
        ++i;
        continue;
      }
      const std::int64_t begin = i;
      while (i < columns && is_wanted(i)) ++i;
      std::byte* parts[max_operands];
      for (int k = 0; k <= inputs_; ++k)
        parts[k] = arrays[k] + begin * cursors_[static_cast<std::size_t>(k)].compute_size;
      kernel_(i - begin, parts);
      if (!is_direct)
        scatter(parts[inputs_],
                position.data[static_cast<std::size_t>(inputs_)] + begin * target().step, 1,
                i - begin);
    }
  }

  // The columns of tiles of transposed operands, and the least sides for which they pay.
  static constexpr std::int64_t transposed_columns = 64, min_side = 16;
  // Columns of tiles in place: long enough to hide the overhead of a call, short enough to share
  // work.
  static constexpr std::int64_t direct_columns = 1 << 13;

  CpuKernel kernel_;
  int inputs_;
  Walk walk_;
  int inner_;
  Mode mode_ = Mode::buffered;
  std::array<OperandCursor, max_operands> cursors_;
  std::array<Scalar, max_inputs> numbers_{Scalar(false), Scalar(false), Scalar(false)};
  const std::byte* mask_ = nullptr;
  std::int64_t mask_step_ = 0;
  std::int64_t columns_ = 1, rows_ = 1, rows_extent_ = 1;
  std::int64_t column_tiles_ = 1, row_tiles_ = 1, tiles_ = 1, tile_size_ = 1;
};

}  // namespace

void compute_in_tiles(const Signature& signature, const CpuKernel& kernel,
                      std::span<const Operand> operands, const Array& result, const Array* where) {
  TiledJob(signature, kernel, operands, result, where).run();
}

}  // namespace spanwise::ops
