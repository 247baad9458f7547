// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "spanwise/op_sdk/walk.hpp"
#include "spanwise/parallel.hpp"
#include "spanwise/runtime/host_block.hpp"

namespace spanwise::ops {
namespace {

// Kernels want whole, aligned elements of one dtype, one after the other. What is otherwise (other
// dtypes, strides, broadcasts, numbers) is brought into such a piece, which the L1 cache holds.
constexpr std::int64_t buffer_bytes = 1 << 13;

/// One operand or the result along the walk.
struct OperandCursor {
  std::byte* data = nullptr;
  DType dtype, compute;
  std::int64_t itemsize = 0, compute_size = 0;
  std::int64_t step = 0, row_step = 0;  // bytes along the last axis and the one before
  bool is_constant = false;             // one element everywhere
  bool is_native = false;               // its elements are what a kernel computes with
  bool is_direct = false;               // and they stand one after the other along the last axis
};

class HostJob {
 public:
  HostJob(const Signature& signature, const CpuKernel& kernel, std::span<const Operand> operands,
          const Array& result, const Array* where)
      : kernel_(kernel),
        inputs_(static_cast<int>(operands.size())),
        walk_(make_walk(operands, result, where)),
        inner_(walk_.rank() - 1) {
    for (int i = 0; i < inputs_; ++i) {
      const Operand& operand = operands[static_cast<std::size_t>(i)];
      OperandCursor& lane = lanes_[static_cast<std::size_t>(i)];
      const DType wanted = cpu_compute(signature, signature.operand(i));
      if (operand.array != nullptr) {
        set_array(lane, *operand.array, wanted, i);
      } else {
        numbers_[static_cast<std::size_t>(i)] = operand.scalar.cast(wanted);
        set_number(lane, numbers_[static_cast<std::size_t>(i)]);
      }
    }
    const DType made = cpu_compute(signature, signature.result);
    set_array(target(), result, made, inputs_);
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
  OperandCursor& target() noexcept { return lanes_[static_cast<std::size_t>(inputs_)]; }
  const OperandCursor& target() const noexcept { return lanes_[static_cast<std::size_t>(inputs_)]; }

  static Walk make_walk(std::span<const Operand> operands, const Array& result,
                        const Array* where) {
    static const Layout nothing{};
    std::array<const Layout*, max_lanes + 1> layouts;
    std::size_t count = 0;
    for (const Operand& operand : operands)
      layouts[count++] = operand.array != nullptr ? &operand.array->layout() : &nothing;
    layouts[count++] = &result.layout();
    if (where != nullptr) layouts[count++] = &where->layout();
    return Walk(result.shape(), std::span(layouts.data(), count),
                static_cast<int>(operands.size()));
  }

  void set_array(OperandCursor& lane, const Array& array, DType compute, int index) {
    lane.data = static_cast<std::byte*>(array.data());
    lane.dtype = array.dtype();
    lane.compute = compute;
    lane.itemsize = array.dtype().itemsize();
    lane.compute_size = compute.itemsize();
    lane.step = walk_.stride(inner_, index) * lane.itemsize;
    lane.row_step = inner_ > 0 ? walk_.stride(inner_ - 1, index) * lane.itemsize : 0;
    const int part = compute.is_complex() ? compute.itemsize() / 2 : compute.itemsize();
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(lane.data) % static_cast<std::uintptr_t>(part) == 0;
    const bool is_single = walk_.extent(inner_) == 1;
    lane.is_native = lane.dtype == compute && is_aligned;
    lane.is_direct = lane.is_native && (lane.step == lane.itemsize || (is_single && inner_ == 0));
    lane.is_constant = index != inputs_ && walk_.size() > 1;
    for (int axis = 0; axis <= inner_; ++axis) lane.is_constant &= walk_.stride(axis, index) == 0;
  }

  static void set_number(OperandCursor& lane, const Scalar& number) {
    lane.data = static_cast<std::byte*>(const_cast<void*>(number.data()));
    lane.dtype = lane.compute = number.dtype();
    lane.itemsize = lane.compute_size = number.dtype().itemsize();
    lane.is_constant = lane.is_native = true;
  }

  // How rows meet the kernel.
  enum class Mode {
    direct,       // as they are
    with_number,  // as they are, operands after the first being one element of each row
    strided,      // by the kernel's own loop over steps
    buffered,     // piece by piece
  };

  Mode find_mode() const {
    bool all_native = mask_ == nullptr, all_direct = all_native, leaps = false;
    for (int i = 0; i <= inputs_; ++i) {
      const OperandCursor& lane = lanes_[static_cast<std::size_t>(i)];
      all_native &= lane.is_native;
      all_direct &= lane.is_direct;
      leaps |= !lane.is_direct && (lane.step != 0 || i == inputs_);
    }
    if (all_direct) return Mode::direct;
    if (!all_native) return Mode::buffered;
    bool others_stand = lanes_[0].is_direct && target().is_direct;
    for (int i = 1; i < inputs_; ++i) others_stand &= lanes_[static_cast<std::size_t>(i)].step == 0;
    if (others_stand && kernel_.with_number != nullptr) return Mode::with_number;
    return leaps && kernel_.strided != nullptr ? Mode::strided : Mode::buffered;
  }

  // A tile is some columns of some rows: of one row where rows are long.
  void choose_tiles() {
    const std::int64_t columns = walk_.extent(inner_);
    std::int64_t widest = 1;
    for (int i = 0; i <= inputs_; ++i)
      widest = std::max(widest, lanes_[static_cast<std::size_t>(i)].compute_size);
    mode_ = find_mode();
    const std::int64_t most = mode_ == Mode::buffered ? buffer_bytes / widest : direct_columns;
    columns_ = std::min(columns, most);
    rows_extent_ = inner_ > 0 ? walk_.extent(inner_ - 1) : 1;
    if (mode_ == Mode::buffered && mask_ == nullptr && columns < most)
      rows_ = std::clamp<std::int64_t>(most / columns, 1, rows_extent_);
    column_tiles_ = (columns + columns_ - 1) / columns_;
    row_tiles_ = (rows_extent_ + rows_ - 1) / rows_;
    tiles_ = column_tiles_ * row_tiles_;
    for (int axis = 0; axis < inner_ - 1; ++axis) tiles_ *= walk_.extent(axis);
    tile_size_ = columns_ * rows_;
  }

  struct Place {
    std::array<std::byte*, max_lanes> data;
    const std::byte* mask;
    std::int64_t row, column;
  };

  Place place_of_tile(std::int64_t tile) const {
    Place place{};
    place.column = tile % column_tiles_ * columns_;
    tile /= column_tiles_;
    place.row = tile % row_tiles_ * rows_;
    tile /= row_tiles_;
    for (int i = 0; i <= inputs_; ++i) {
      const OperandCursor& lane = lanes_[static_cast<std::size_t>(i)];
      place.data[static_cast<std::size_t>(i)] =
          lane.data + place.column * lane.step + place.row * lane.row_step;
    }
    place.mask = mask_ + place.column * mask_step_;
    if (mask_ != nullptr && inner_ > 0)
      place.mask += place.row * walk_.stride(inner_ - 1, inputs_ + 1);
    for (int axis = inner_ - 2; axis >= 0; --axis) {
      const std::int64_t extent = walk_.extent(axis), index = tile % extent;
      tile /= extent;
      if (index == 0) continue;
      for (int i = 0; i <= inputs_; ++i) {
        const OperandCursor& lane = lanes_[static_cast<std::size_t>(i)];
        place.data[static_cast<std::size_t>(i)] += index * walk_.stride(axis, i) * lane.itemsize;
      }
      if (mask_ != nullptr) place.mask += index * walk_.stride(axis, inputs_ + 1);
    }
    return place;
  }

  void run_tiles(std::int64_t first, std::int64_t last) const {
    if (mode_ == Mode::buffered) return run_buffered(first, last);
    std::int64_t steps[max_lanes];
    for (int i = 0; i <= inputs_; ++i) steps[i] = lanes_[static_cast<std::size_t>(i)].step;
    for (std::int64_t tile = first; tile < last; ++tile) {
      const Place place = place_of_tile(tile);
      const std::int64_t columns = std::min(columns_, walk_.extent(inner_) - place.column);
      if (mode_ == Mode::strided)
        kernel_.strided(columns, place.data.data(), steps);
      else
        (mode_ == Mode::direct ? kernel_.loop : kernel_.with_number)(kernel_.context, columns,
                                                                     place.data.data());
    }
  }

  // The pieces that one thread works in.
  struct Buffers {
    alignas(64) std::byte bytes[max_lanes][buffer_bytes];
    std::int64_t filled[max_lanes] = {};  // elements of a constant, or of what stands still
    const std::byte* source[max_lanes] = {};
  };

  void run_buffered(std::int64_t first, std::int64_t last) const {
    Buffers buffers;
    for (std::int64_t tile = first; tile < last; ++tile) {
      const Place place = place_of_tile(tile);
      const std::int64_t columns = std::min(columns_, walk_.extent(inner_) - place.column);
      const std::int64_t rows = std::min(rows_, rows_extent_ - place.row);
      std::byte* arrays[max_lanes];
      for (int i = 0; i < inputs_; ++i)
        arrays[i] = load_tile(i, place.data[static_cast<std::size_t>(i)], rows, columns, buffers);
      std::byte* const target_data = place.data[static_cast<std::size_t>(inputs_)];
      const bool is_direct = can_be_taken(target(), rows, columns);
      arrays[inputs_] = is_direct ? target_data : buffers.bytes[inputs_];
      if (mask_ != nullptr) {
        run_masked(place, columns, arrays, is_direct);
        continue;
      }
      kernel_(rows * columns, arrays);
      if (!is_direct) scatter(arrays[inputs_], target_data, rows, columns);
    }
  }

  static bool can_be_taken(const OperandCursor& lane, std::int64_t rows, std::int64_t columns) {
    return lane.is_direct && (rows == 1 || lane.row_step == columns * lane.step);
  }

  // The operand's tile as the kernel wants it.
  std::byte* load_tile(int index, std::byte* data, std::int64_t rows, std::int64_t columns,
                       Buffers& buffers) const {
    const OperandCursor& lane = lanes_[static_cast<std::size_t>(index)];
    if (can_be_taken(lane, rows, columns)) return data;
    std::byte* buffer = buffers.bytes[index];
    const bool stands_still = lane.is_constant || (lane.step == 0 && rows == 1);
    std::int64_t& filled = buffers.filled[index];
    if (stands_still && buffers.source[index] == data && filled >= rows * columns) return buffer;
    convert_block(lane.dtype, lane.compute,
                  {buffer, data, rows, columns, columns * lane.compute_size, lane.compute_size,
                   lane.row_step, lane.step});
    buffers.source[index] = data;
    filled = stands_still ? rows * columns : 0;
    return buffer;
  }

  void scatter(const std::byte* from, std::byte* to, std::int64_t rows,
               std::int64_t columns) const {
    const OperandCursor& lane = target();
    convert_block(lane.compute, lane.dtype,
                  {to, from, rows, columns, lane.row_step, lane.step, columns * lane.compute_size,
                   lane.compute_size});
  }

  // Kernels see only what is asked for: an exponent elsewhere may be anything.
  void run_masked(const Place& place, std::int64_t columns, std::byte* const* arrays,
                  bool is_direct) const {
    const auto is_wanted = [&](std::int64_t i) {
      return place.mask[i * mask_step_] != std::byte{0};
    };
    for (std::int64_t i = 0; i < columns;) {
      if (!is_wanted(i)) {
        ++i;
        continue;
      }
      const std::int64_t begin = i;
      while (i < columns && is_wanted(i)) ++i;
      std::byte* parts[max_lanes];
      for (int k = 0; k <= inputs_; ++k)
        parts[k] = arrays[k] + begin * lanes_[static_cast<std::size_t>(k)].compute_size;
      kernel_(i - begin, parts);
      if (!is_direct)
        scatter(parts[inputs_],
                place.data[static_cast<std::size_t>(inputs_)] + begin * target().step, 1,
                i - begin);
    }
  }

  // Long enough that the call costs nothing, short enough that threads can share.
  static constexpr std::int64_t direct_columns = 1 << 13;

  CpuKernel kernel_;
  int inputs_;
  Walk walk_;
  int inner_;
  Mode mode_ = Mode::buffered;
  std::array<OperandCursor, max_lanes> lanes_;
  std::array<Scalar, max_inputs> numbers_{Scalar(false), Scalar(false), Scalar(false)};
  const std::byte* mask_ = nullptr;
  std::int64_t mask_step_ = 0;
  std::int64_t columns_ = 1, rows_ = 1, rows_extent_ = 1;
  std::int64_t column_tiles_ = 1, row_tiles_ = 1, tiles_ = 1, tile_size_ = 1;
};

}  // namespace

void compute_in_tiles(const Signature& signature, const CpuKernel& kernel,
                      std::span<const Operand> operands, const Array& result, const Array* where) {
  HostJob(signature, kernel, operands, result, where).run();
}

}  // namespace spanwise::ops
