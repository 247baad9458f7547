// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"
#include "strided/cpu/block_kernels.hpp"
#include "strided/cpu/block_loop.hpp"

// Copies, casts and fills of CPU arrays, and convert_block().
namespace spanwise::strided {
namespace {

// The same block by its other axis: rows become columns.
Block by_columns(Block block) {
  std::swap(block.rows, block.columns);
  std::swap(block.target_row_step, block.target_step);
  std::swap(block.source_row_step, block.source_step);
  return block;
}

// Whether the target is contiguous along the columns and the source along the rows.
bool is_across(const Block& block, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t min_side = 8;
  return block.rows >= min_side && block.columns >= min_side && block.target_step == to &&
         block.source_row_step == from && std::abs(block.source_step) > from;
}

// The block with its rows reversed on both sides if the source's row step is -itemsize; else the
// same block.
Block with_forward_rows(Block block, std::int64_t itemsize) {
  if (block.source_row_step != -itemsize) return block;
  block.target += (block.rows - 1) * block.target_row_step;
  block.source += (block.rows - 1) * block.source_row_step;
  block.target_row_step = -block.target_row_step;
  block.source_row_step = -block.source_row_step;
  return block;
}

// Transposes the source of a block of at most tile_bytes into a buffer, and calls `then` with the
// buffer as the source.
void transpose_then(const Block& block, int bytes, BlockKernel then) {
  alignas(64) std::byte tile[tile_bytes];
  Block to_tile = block, from_tile = block;
  to_tile.target = tile;
  from_tile.source = tile;
  to_tile.target_step = from_tile.source_step = bytes;
  to_tile.target_row_step = from_tile.source_row_step = bytes * block.columns;
  to_tile.non_temporal = false;
  move_kernels().transpose[kernel_index(bytes)](to_tile);
  then(from_tile);
}

/// A copy, or a fill from one element with strides 0. Elements are copied as words; contiguous
/// elements are joined to larger words where all strides allow it.
class StridedCopy {
 public:
  /// `data` is the address of the source's element (0, ..., 0).
  StridedCopy(const Array& target, const Layout& source, const void* data, int source_itemsize)
      : walk_(make_walk(target, source)),
        itemsizes_{target.dtype().itemsize(), source_itemsize},
        data_{static_cast<std::byte*>(target.data()),
              static_cast<std::byte*>(const_cast<void*>(data))},
        bytes_(target.dtype().itemsize()) {
    for (std::size_t k = 0; k < 2; ++k)
      data_[k] += walk_.offset(static_cast<int>(k)) * itemsizes_[k];
    split_.axes = walk_.rank();
  }

  /// Between arrays of one dtype.
  void move();
  void cast(DType from, DType to);
  /// Fills with a value whose bytes are all equal; returns false, and does nothing, for others.
  bool try_set_bytes();

 private:
  static Walk make_walk(const Array& target, const Layout& source) {
    const Layout* const layouts[] = {&target.layout(), &source};
    return Walk(target.shape(), layouts, 0, Walk::Direction::forward);
  }
  int inner() const noexcept { return split_.axes - 1; }
  std::int64_t extent(int axis) const noexcept { return walk_.extent(axis); }
  std::int64_t target_step(int axis) const noexcept {
    return walk_.stride(axis, 0) * itemsizes_[0];
  }
  std::int64_t source_step(int axis) const noexcept {
    return walk_.stride(axis, 1) * itemsizes_[1];
  }

  bool widen_words();
  int fastest_source() const;
  int transposed_axis() const;
  bool has_small_axes(int rows) const;
  std::int64_t first_columns() const;

  void split_along_target(std::int64_t max_words);
  void split_transposed(int rows, int bytes);
  void split_small_axes();
  void move_runs();
  bool has_short_sides(int rows) const;
  template <class F>
  bool try_gather(F&& gather) const;
  /// Calls work(block) for all blocks of split_, in one thread if the copy has less than
  /// `serial_bytes` bytes at `item_bytes` an element of the walk.
  template <class F>
  void run(std::int64_t item_bytes, std::int64_t serial_bytes, F&& work) const;

  Walk walk_;
  std::array<std::int64_t, 2> itemsizes_;  ///< target, source
  std::array<std::byte*, 2> data_;         ///< first elements of the walk: target, source
  int bytes_;                              ///< of a word
  BlockSplit split_;
  bool non_temporal_ = false;  ///< HostBlock::non_temporal
};

template <class F>
void StridedCopy::run(std::int64_t item_bytes, std::int64_t serial_bytes, F&& work) const {
  const int columns = split_.columns < 0 ? inner() : split_.columns, rows = split_.rows;
  Block block{
      data_[0],     data_[1], 1, extent(columns), 0, target_step(columns), 0, source_step(columns),
      non_temporal_};
  if (rows >= 0) {
    block.rows = extent(rows);
    block.target_row_step = target_step(rows);
    block.source_row_step = source_step(rows);
  }
  const bool is_plane = split_.axes == (rows < 0 ? 1 : 2);
  if (is_plane && block.columns <= split_.block_columns && block.rows <= split_.block_rows)
    return work(block);
  BlockSplit split = split_;
  if (non_temporal_) split.first_columns = first_columns();
  const BlockLoop loop(walk_, data_, itemsizes_, split);
  const auto run_blocks = [&](std::int64_t first, std::int64_t last) {
    Block part = block;
    loop.run(first, last,
             [&](std::byte* const* data, std::int64_t rows_of_part, std::int64_t columns_of_part) {
               part.target = data[0];
               part.source = data[1];
               part.rows = rows_of_part;
               part.columns = columns_of_part;
               work(part);
             });
  };
  const bool is_serial = walk_.size() * item_bytes < serial_bytes;
  parallel_for(loop.count(), is_serial ? loop.count() : 1, run_blocks);
}

// Fits in the L2 cache, and hides the cost of a call.
constexpr std::int64_t block_bytes = 1 << 16;
// Copies of fewer bytes run on one thread, which uses much of the bandwidth for contiguous runs;
// waking others takes microseconds.
constexpr std::int64_t serial_run_bytes = 1 << 20, serial_element_bytes = 1 << 18;
// More than a core's share of the last-level cache.
constexpr std::int64_t streaming_threshold = 16 << 20;
constexpr std::int64_t line_bytes = 64;

bool all_bytes_equal(const std::byte* bytes, int count) {
  return std::all_of(bytes, bytes + count, [&](std::byte b) { return b == bytes[0]; });
}

void set_bytes(const Block& b) {
  for (std::int64_t row = 0; row < b.rows; ++row)
    std::memset(b.target + row * b.target_row_step, static_cast<int>(*b.source),
                static_cast<std::size_t>(b.columns * b.target_step));
}

// Merges a short contiguous innermost axis into one wider word, or, of bytes that are reversed in
// the source, into a word whose bytes are swapped; returns whether they are.
bool StridedCopy::widen_words() {
  const std::int64_t count = extent(inner()), to = target_step(inner()),
                     from = source_step(inner());
  const bool swaps =
      bytes_ == 1 && (count == 2 || count == 4 || count == 8) && to == 1 && from == -1;
  const bool is_short = to == bytes_ && from == bytes_ && count <= 16 / bytes_ &&
                        std::has_single_bit(static_cast<unsigned>(count * bytes_));
  if (!swaps && !is_short) return false;
  if (swaps) data_[1] -= count - 1;
  bytes_ *= static_cast<int>(count);
  --split_.axes;
  return swaps;
}

// The outer axis with the smallest source step, or -1.
int StridedCopy::fastest_source() const {
  int fastest = -1;
  for (int i = 0; i < inner(); ++i) {
    const std::int64_t step = std::abs(source_step(i));
    if (step != 0 && (fastest < 0 || step < std::abs(source_step(fastest)))) fastest = i;
  }
  return fastest;
}

// The axis along which the source is contiguous if that is not the innermost, else -1: copying in
// the target's order would use one element of each source line before it is evicted.
int StridedCopy::transposed_axis() const {
  const int fastest = fastest_source();
  if (fastest < 0) return -1;
  const std::int64_t step = std::abs(source_step(fastest));
  return std::abs(source_step(inner())) > step && step * 2 <= line_bytes ? fastest : -1;
}

// The columns before the first cache line of the target if that is the same for all rows, so that
// the other blocks begin at cache lines; else 0.
std::int64_t StridedCopy::first_columns() const {
  const std::int64_t step = target_step(inner());
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_[0]) %
                                                      static_cast<std::uintptr_t>(line_bytes));
  if (step <= 0 || misalignment == 0 || misalignment % step != 0 ||
      split_.block_columns * step <= line_bytes)
    return 0;
  for (int i = 0; i < inner(); ++i)
    if (target_step(i) % line_bytes != 0) return 0;
  return split_.block_columns - misalignment / step;
}

// Word by word in the order of the target.
void StridedCopy::split_along_target(std::int64_t max_words) {
  split_.rows = inner() - 1;
  split_.block_columns = max_words;
  split_.block_rows = std::max<std::int64_t>(1, max_words / extent(inner()));
}

// Tiles over the innermost axis and the axis along which the source is contiguous.
void StridedCopy::split_transposed(int rows, int bytes) {
  split_.rows = rows;
  split_.block_rows = split_.block_columns = 16;
  if (bytes == 0) return;
  const TileSides sides = tile_sides(bytes, extent(rows), extent(inner()));
  split_.block_rows = sides.rows;
  split_.block_columns = sides.columns;
}

// Whether a tile has so few words that its overhead would dominate, and a longer axis is left.
bool StridedCopy::has_small_axes(int rows) const {
  constexpr std::int64_t few = 64, min_length = 16;
  return inner() == 2 && rows == 1 && extent(1) * extent(2) <= few && extent(0) >= min_length;
}

// Visits the long axis first, in blocks that stay in the L1 cache.
void StridedCopy::split_small_axes() {
  split_.columns = 0;
  split_.rows = 1;
  split_.layers = 2;
  split_.block_rows = extent(1);
  split_.block_layers = extent(2);
  const std::int64_t cell = std::max(std::abs(target_step(0)), std::abs(source_step(0)));
  split_.block_columns = std::max<std::int64_t>(16, tile_bytes / 2 / cell);
}

// Copies contiguous runs. Short runs in another order in the source are copied in blocks along both
// orders, since a cache line of the source contains several.
void StridedCopy::move_runs() {
  const std::int64_t run_bytes = extent(inner()) * bytes_;
  split_.rows = inner() - 1;
  split_.block_rows = std::max<std::int64_t>(1, block_bytes / std::max<std::int64_t>(1, run_bytes));
  split_.block_columns = 4 * block_bytes / bytes_;
  const int fastest = fastest_source();
  if (run_bytes < 4 * line_bytes && inner() > 1 && fastest >= 0 && fastest != split_.rows) {
    split_.layers = split_.rows;
    split_.rows = fastest;
    split_.block_rows = split_.block_layers = 32;
  }
  non_temporal_ &= run_bytes >= 2 * line_bytes;
  run(bytes_, run_bytes < 4 * line_bytes ? serial_element_bytes : serial_run_bytes,
      move_kernels().rows);
}

/// A tile of several axes on the CPU: rows of adjacent words of the target, which the axes from
/// `first` on form, and the place of each of them in the source.
class GatheredTiles {
 public:
  using Sides = std::array<std::int64_t, max_rank>;

  /// The first `axes` axes of the walk; `steps(axis)` has the bytes from element to element in the
  /// target and in the source.
  template <class F>
  GatheredTiles(const Walk& walk, int axes, const Sides& sides, int bytes, F&& steps)
      : axes_(axes), first_(axes), sides_(sides) {
    constexpr std::int64_t long_run = 512;
    for (int axis = 0; axis < axes; ++axis) {
      extents_[at(axis)] = walk.extent(axis);
      steps_[at(axis)] = steps(axis);
      tiles_[at(axis)] = (walk.extent(axis) - 1) / side(axis) + 1;
      count_ *= tiles_[at(axis)];
    }
    std::int64_t run = 1;
    do {
      --first_;
      run *= side(first_);
    } while (first_ > 0 && run < long_run && side(first_) == extents_[at(first_)] &&
             steps_[at(first_ - 1)][0] == run * bytes);
    add_offsets(run);
  }
  /// False if the source's elements of a row are too far from each other.
  bool is_valid() const noexcept { return !offsets_.empty(); }
  std::int64_t count() const noexcept { return count_; }
  std::int64_t run_words() const noexcept { return static_cast<std::int64_t>(offsets_.size()); }

  /// Copies the tiles [first, last) by gather(), as a GatherKernel.
  template <class F>
  void run(std::int64_t first, std::int64_t last, std::byte* target, const std::byte* source,
           F&& gather, bool non_temporal) const {
    for (; first < last; ++first) {
      Sides left;
      std::int64_t rest = first, to = 0, from = 0;
      for (int axis = axes_ - 1; axis >= 0; --axis) {
        const std::int64_t start = rest % tiles_[at(axis)] * side(axis);
        rest /= tiles_[at(axis)];
        left[at(axis)] = std::min(side(axis), extents_[at(axis)] - start);
        to += start * steps_[at(axis)][0];
        from += start * steps_[at(axis)][1];
      }
      const std::int64_t words = run_words() / side(first_) * left[at(first_)];
      gather_rows(0, left, target + to, source + from,
                  [&](std::byte* row, const std::byte* from_row) {
                    gather(row, from_row, offsets_.data(), words, non_temporal);
                  });
    }
  }

 private:
  static std::size_t at(int axis) noexcept { return static_cast<std::size_t>(axis); }
  std::int64_t side(int axis) const noexcept { return sides_[at(axis)]; }

  void add_offsets(std::int64_t run) {
    std::int64_t reach = 0;
    for (int axis = first_; axis < axes_; ++axis)
      reach += (side(axis) - 1) * std::abs(steps_[at(axis)][1]);
    if (reach > INT32_MAX) return;
    offsets_.resize(static_cast<std::size_t>(run));
    for (std::int64_t k = 0; k < run; ++k) {
      std::int64_t rest = k, offset = 0;
      for (int axis = axes_ - 1; axis >= first_; --axis) {
        offset += rest % side(axis) * steps_[at(axis)][1];
        rest /= side(axis);
      }
      offsets_[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(offset);
    }
  }
  template <class F>
  void gather_rows(int axis, const Sides& left, std::byte* target, const std::byte* source,
                   F&& gather) const {
    if (axis == first_) return gather(target, source);
    for (std::int64_t i = 0; i < left[at(axis)]; ++i)
      gather_rows(axis + 1, left, target + i * steps_[at(axis)][0],
                  source + i * steps_[at(axis)][1], gather);
  }

  int axes_, first_;
  std::int64_t count_ = 1;
  Sides sides_, extents_, tiles_;
  std::array<std::array<std::int64_t, 2>, max_rank> steps_;
  std::vector<std::int32_t> offsets_;
};

// Whether tiles of two axes are so thin, or have so few words, that their overhead would dominate.
bool StridedCopy::has_short_sides(int rows) const {
  constexpr std::int64_t few = 256;
  // The vectors that transpose words of one and two bytes are faster than gathers.
  const std::int64_t short_bytes = bytes_ <= 2 ? 16 : 48;
  return inner() > 1 && (std::min(extent(rows), extent(inner())) * bytes_ <= short_bytes ||
                         extent(rows) * extent(inner()) <= few);
}

// Copies in tiles of several axes by gather(), as a GatherKernel; false if there are few elements.
template <class F>
bool StridedCopy::try_gather(F&& gather) const {
  constexpr std::int64_t min_words = 4096;
  if (walk_.size() < min_words) return false;
  const Walk::TileOperand operands[] = {{0, static_cast<int>(itemsizes_[0])},
                                        {1, static_cast<int>(itemsizes_[1])}};
  const std::int64_t wider = std::max(itemsizes_[0], itemsizes_[1]);
  const GatheredTiles tiles(
      walk_, split_.axes, walk_.tile_sides(operands, block_bytes / wider), bytes_,
      [&](int axis) { return std::array{target_step(axis), source_step(axis)}; });
  if (!tiles.is_valid()) return false;
  const bool is_serial = walk_.size() * wider < serial_element_bytes;
  const bool is_streamed = non_temporal_ && tiles.run_words() * bytes_ >= 8 * line_bytes;
  parallel_for(tiles.count(), is_serial ? tiles.count() : 1,
               [&](std::int64_t first, std::int64_t last) {
                 tiles.run(first, last, data_[0], data_[1], gather, is_streamed);
                 if (is_streamed) move_kernels().end_streaming();
               });
  return true;
}

void StridedCopy::move() {
  const bool swaps = widen_words();
  const MoveKernels& kernels = move_kernels();
  const int index = kernel_index(bytes_);
  const BlockKernel by_words = swaps ? kernels.swap[index] : kernels.move[index];
  if (split_.axes == 0) return by_words({data_[0], data_[1], 1, 1, bytes_, bytes_, bytes_, bytes_});
  const bool is_packed = target_step(inner()) == bytes_;
  non_temporal_ = is_packed && walk_.size() * itemsizes_[0] >= streaming_threshold;
  const bool has_runs = is_packed && source_step(inner()) == bytes_ && !swaps;
  const int rows = has_runs ? fastest_source() : transposed_axis();
  const bool has_short_runs =
      has_runs && rows >= 0 && rows != inner() - 1 && extent(inner()) * bytes_ < line_bytes;
  if (is_packed && !swaps && rows >= 0 && (!has_runs || has_short_runs) && has_short_sides(rows) &&
      try_gather(kernels.gather[index]))
    return;
  if (has_runs) return move_runs();
  if (rows < 0) {
    split_along_target(block_bytes / bytes_);
    return run(bytes_, serial_element_bytes, by_words);
  }
  if (has_small_axes(rows)) {
    non_temporal_ = false;
    split_small_axes();
    return run(bytes_, serial_element_bytes, by_words);
  }
  split_transposed(rows, is_packed ? bytes_ : 0);
  // Eight tiles per block, each of which prefetches the next.
  if (is_packed && !swaps) split_.block_columns *= 8;
  const BlockKernel transpose = kernels.transpose[index];
  run(bytes_, serial_element_bytes, [&](const Block& unordered) {
    const Block block = with_forward_rows(unordered, bytes_);
    if (!is_packed) return by_words(block);
    return swaps ? transpose_then(block, bytes_, by_words) : transpose(block);
  });
}

// If tiles are transposed, the cast is a second pass over a buffer in the L1 cache.
void StridedCopy::cast(DType from, DType to) {
  const std::int64_t wider = std::max(itemsizes_[0], itemsizes_[1]);
  const BlockKernel kernel = cast_kernel(from, to);
  const int rows = transposed_axis();
  if (rows < 0) {
    split_along_target(block_bytes / wider);
    return run(wider, serial_element_bytes, kernel);
  }
  const bool is_packed = target_step(inner()) == itemsizes_[0];
  const int size = from.itemsize();
  const auto gather_then_cast = [&, gather = move_kernels().gather[kernel_index(size)]](
                                    std::byte* target, const std::byte* source,
                                    const std::int32_t* offsets, std::int64_t count, bool) {
    alignas(64) std::byte words[tile_bytes];
    for (std::int64_t k = 0; k < count; k += tile_bytes / size) {
      const std::int64_t n = std::min(tile_bytes / size, count - k);
      gather(words, source, offsets + k, n, false);
      kernel({target + k * bytes_, words, 1, n, 0, bytes_, 0, size, false});
    }
  };
  if (is_packed && has_short_sides(rows) && try_gather(gather_then_cast)) return;
  split_transposed(rows, is_packed ? size : 0);
  run(wider, serial_element_bytes, [&](const Block& unordered) {
    const Block block = with_forward_rows(unordered, size);
    return is_packed ? transpose_then(block, size, kernel) : kernel(block);
  });
}

bool StridedCopy::try_set_bytes() {
  if (target_step(inner()) != bytes_ || !all_bytes_equal(data_[1], bytes_)) return false;
  split_along_target(4 * block_bytes / bytes_);
  run(bytes_, serial_run_bytes, set_bytes);
  return true;
}

void copy_on_cpu(const Array& source, const Array& target, runtime::StreamState&) {
  if (target.size() == 0) return;
  StridedCopy copy(target, source.layout(), source.data(), source.dtype().itemsize());
  if (source.dtype() != target.dtype()) return copy.cast(source.dtype(), target.dtype());
  copy.move();
}

void fill_on_cpu(const Array& target, const Scalar& value, runtime::StreamState&) {
  if (value.dtype() != target.dtype())
    fail<DTypeError>("cpu fill: value is ", value.dtype(), ", array is ", target.dtype(),
                     "; expected one dtype");
  if (target.size() == 0) return;
  StridedCopy copy(target, Layout{}, value.data(), target.dtype().itemsize());
  if (!copy.try_set_bytes()) copy.move();
}

constexpr runtime::ElementLoops cpu_loops{copy_on_cpu, fill_on_cpu};
[[maybe_unused]] const auto previous_cpu_loops =
    runtime::register_element_loops(DeviceKind::cpu, &cpu_loops);

}  // namespace

}  // namespace spanwise::strided

namespace spanwise {

void convert_block(DType from, DType to, const HostBlock& host_block) {
  using namespace strided;
  const int size = from.itemsize();
  const Block block = with_forward_rows(host_block, size);
  if (from == to) {
    const BlockKernel transpose = move_kernels().transpose[kernel_index(size)];
    if (is_across(block, size, size)) return transpose(block);
    if (const Block turned = by_columns(block); is_across(turned, size, size))
      return transpose(turned);
    // A cast of bools makes 1 of all bytes but 0.
    if (from != bool_) return move_kernels().move[kernel_index(size)](block);
  } else if (is_across(block, size, to.itemsize())) {
    // A block that is larger than the tile is split by rows.
    const std::int64_t max_rows = std::max<std::int64_t>(8, tile_bytes / (block.columns * size));
    if (block.columns * size * max_rows <= tile_bytes) {
      Block part = block;
      for (std::int64_t row = 0; row < block.rows; row += max_rows) {
        part.rows = std::min(max_rows, block.rows - row);
        transpose_then(part, size, cast_kernel(from, to));
        part.target += part.rows * part.target_row_step;
        part.source += part.rows * part.source_row_step;
      }
      return;
    }
  }
  cast_kernel(from, to)(block);
}

}  // namespace spanwise
