// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "block_loop.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/cpu_loop.hpp"

// The loop of a body on the CPU.
namespace spanwise::strided {
namespace {

/// Memory of the calling thread, 64-byte aligned, valid until the thread's next call.
std::byte* thread_scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t size = 0;
  constexpr std::size_t alignment = 64;
  if (size < bytes) {
    memory = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    size = bytes;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(memory.get());
  return memory.get() + (alignment - first % alignment) % alignment;
}

/// Whether the body can use the operand's elements in memory one by one.
inline bool is_native(const CpuOperand& operand) noexcept {
  if (operand.dtype != operand.compute) return false;
  const auto size = static_cast<std::uintptr_t>(operand.compute.itemsize());  // a power of two
  const std::uintptr_t part = operand.compute.is_complex() ? size / 2 : size;
  return (reinterpret_cast<std::uintptr_t>(operand.data) & (part - 1)) == 0;
}

/// Calls run(begin, end) for each run of elements, of `n`, that a mask selects; `step` is the bytes
/// between its elements.
template <class F>
void for_each_selected(const std::byte* mask, std::int64_t step, std::int64_t n, F&& run) {
  for (std::int64_t i = 0; i < n;) {
    if (mask[i * step] == std::byte{0}) {
      ++i;
      continue;
    }
    const std::int64_t begin = i;
    while (i < n && mask[i * step] != std::byte{0}) ++i;
    run(begin, i);
  }
}

constexpr std::int64_t cache_line_bytes = 64;
// Bytes of a run in a buffer, which fits in the L1 cache.
constexpr std::int64_t buffer_bytes = 1 << 13;
// Elements of a run in place: long enough to hide the overhead of a call, short enough to share
// work.
constexpr std::int64_t direct_columns = 1 << 13;
// The block of transposed inputs, and the extents of both axes from which on it is faster.
constexpr std::int64_t transposed_columns = 256, transposed_rows = 32, min_transposed = 16;
// Operands of more bytes are evicted between the visits of two rows, so that few rows, and rows
// that use several elements of a cache line, are transposed too.
constexpr std::int64_t evicted_bytes = 1 << 18, min_rows_of_large = 3;
// Buffers a multiple of a page apart would be in the same lines of the cache.
constexpr std::size_t buffer_gap = 5 * 64;

/// A loop over arrays that are not all contiguous in one order.
///
/// A block of the walk is computed in runs of whole rows. Each operand is used in place, or in a
/// buffer that holds a run; transposed inputs are copied into their buffer for the whole block.
class CpuLoop {
 public:
  CpuLoop(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body);
  void run() const;

 private:
  /// An operand along the walk.
  struct OperandAccess {
    std::int64_t itemsize, compute_size;  ///< compute_size is 0 for CpuOperand::is_element
    std::int64_t step, row_step;          ///< bytes along columns and rows
    bool is_constant;                     ///< an input that is the same element everywhere
    bool is_native, is_direct;            ///< direct: native, and contiguous along columns
    bool is_transposed;
    std::size_t buffer;  ///< its offset in the thread's memory
  };
  /// How the body accesses rows.
  enum class RowAccess {
    direct,       ///< in place
    with_number,  ///< in place; operands after the first are one element per row
    strided,      ///< in place, with the body's strided loop
    buffered,
  };
  /// The buffers of one thread.
  struct Buffers {
    std::byte* memory = nullptr;
    std::array<const std::byte*, max_arrays> source;       ///< where the contents were loaded from
    std::array<std::int64_t, max_arrays> loaded, columns;  ///< elements, and those of a row
  };

  static Walk make_walk(const Shape& shape, std::span<const CpuOperand> operands);
  std::int64_t min_step() const noexcept { return is_large_ ? 1 : cache_line_bytes; }
  std::optional<int> find_transposed_axis() const;
  void find_access();
  bool has_short_rows() const;
  RowAccess find_row_access() const;
  void split();
  void place_buffers();

  Buffers make_buffers() const;
  void run_block(std::byte* const* data, std::int64_t rows, std::int64_t columns,
                 Buffers& buffers) const;
  void run_rows(std::byte* const* data, std::int64_t rows, std::int64_t columns, std::byte** arrays,
                Buffers& buffers) const;
  void run_masked(const std::byte* mask, std::int64_t columns, std::byte* const* arrays,
                  std::byte* const* targets) const;
  std::byte* load(std::size_t k, std::byte* from, std::int64_t rows, std::int64_t columns,
                  Buffers& buffers) const;
  void store(std::size_t k, const std::byte* from, std::byte* to, std::int64_t rows,
             std::int64_t columns) const;
  bool is_usable(const OperandAccess& access, std::int64_t rows,
                 std::int64_t columns) const noexcept {
    return access.is_direct && (rows == 1 || access.row_step == columns * access.step);
  }

  std::span<const CpuOperand> operands_;
  const CpuBody& body_;
  std::size_t count_;  ///< of operands, without the mask
  bool has_mask_;
  Walk walk_;
  BlockSplit split_;
  std::int64_t run_rows_ = 1;  ///< rows of a run
  bool is_large_;              ///< of more than evicted_bytes
  bool has_transposed_ = false;
  RowAccess row_access_ = RowAccess::buffered;
  std::array<OperandAccess, max_arrays> access_;
  std::size_t memory_ = 0;  ///< bytes for a thread
};

// Whether rows that are visited one by one would use a few bytes of each cache line: elements are
// at least `min_step` bytes apart along the last axis, and adjacent along the other.
bool is_transposed(std::int64_t step, std::int64_t row_step, std::int64_t min_step) noexcept {
  return std::abs(step) >= min_step && std::abs(step) > std::abs(row_step) && row_step != 0 &&
         std::abs(row_step) <= cache_line_bytes / 4;
}

CpuLoop::CpuLoop(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body)
    : operands_(operands),
      body_(body),
      count_(operands.size() - (operands.back().role == ArrayRole::mask ? 1 : 0)),
      has_mask_(count_ < operands.size()),
      walk_(make_walk(shape, operands)),
      is_large_(walk_.size() * operands.front().dtype.itemsize() > evicted_bytes) {
  split_.axes = walk_.rank();
  const std::optional<int> transposed = find_transposed_axis();
  split_.rows = transposed ? *transposed : walk_.rank() - 2;
  has_transposed_ = transposed.has_value();
  find_access();
  row_access_ = find_row_access();
  split();
  place_buffers();
}

Walk CpuLoop::make_walk(const Shape& shape, std::span<const CpuOperand> operands) {
  std::array<const Layout*, max_arrays> layouts;
  int leader = -1;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    layouts[k] = operands[k].layout;
    if (leader < 0 && operands[k].role == ArrayRole::write) leader = static_cast<int>(k);
  }
  return Walk(shape, std::span(layouts.data(), operands.size()), leader, Walk::Direction::forward);
}

// The axis along which the first transposed input is adjacent.
std::optional<int> CpuLoop::find_transposed_axis() const {
  const int inner = walk_.rank() - 1;
  if (inner == 0 || walk_.extent(inner) < min_transposed) return {};
  for (std::size_t k = 0; k < count_; ++k) {
    const int index = static_cast<int>(k);
    const std::int64_t size = operands_[k].dtype.itemsize();
    const std::int64_t min_rows = is_large_ ? min_rows_of_large : min_transposed;
    std::optional<int> fastest;
    for (int axis = 0; axis < inner; ++axis)
      if (walk_.extent(axis) >= min_rows &&
          is_transposed(walk_.stride(inner, index) * size, walk_.stride(axis, index) * size,
                        min_step()) &&
          (!fastest ||
           std::abs(walk_.stride(axis, index)) < std::abs(walk_.stride(*fastest, index))))
        fastest = axis;
    if (fastest) return fastest;
  }
  return {};
}

void CpuLoop::find_access() {
  const int inner = walk_.rank() - 1;
  const bool is_single = inner == 0 && walk_.extent(0) == 1;
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    const CpuOperand& operand = operands_[k];
    const int index = static_cast<int>(k);
    OperandAccess& access = access_[k];
    access.itemsize = operand.dtype.itemsize();
    access.compute_size = operand.is_element ? 0 : operand.compute.itemsize();
    access.step = walk_.stride(inner, index) * access.itemsize;
    access.row_step = split_.rows < 0 ? 0 : walk_.stride(split_.rows, index) * access.itemsize;
    access.is_native = is_native(operand) && !operand.is_stored_late;
    access.is_direct = access.is_native && (access.step == access.itemsize || is_single);
    access.is_transposed =
        has_transposed_ && is_transposed(access.step, access.row_step, min_step());
  }
}

// Whether a call of the body for each row takes longer than buffers of several rows, for which
// broadcast operands are repeated and others stay in place.
bool CpuLoop::has_short_rows() const {
  constexpr std::int64_t many_rows = 8;
  // A body with blocks calls a loop for each of its operations.
  const std::int64_t short_row = body_.block == 0 ? 32 : 128;
  return split_.rows >= 0 && !has_transposed_ && walk_.extent(walk_.rank() - 1) < short_row &&
         walk_.extent(split_.rows) >= many_rows;
}

CpuLoop::RowAccess CpuLoop::find_row_access() const {
  bool all_native = !has_mask_, all_direct = all_native;
  bool any_strided = false, others_constant = true;
  for (std::size_t k = 0; k < count_; ++k) {
    const OperandAccess& access = access_[k];
    if (operands_[k].is_element) continue;
    const bool is_read = operands_[k].role == ArrayRole::read;
    all_native &= access.is_native;
    all_direct &= access.is_direct;
    any_strided |= !access.is_direct && (access.step != 0 || !is_read);
    others_constant &= is_read && k > 0 ? access.step == 0 : access.is_direct;
  }
  if (!all_native || has_short_rows()) return RowAccess::buffered;
  if (all_direct) return RowAccess::direct;
  if (others_constant && body_.with_number != nullptr) return RowAccess::with_number;
  const bool is_in_place = any_strided && body_.strided != nullptr && !has_transposed_;
  return is_in_place ? RowAccess::strided : RowAccess::buffered;
}

void CpuLoop::split() {
  std::int64_t widest = 1;
  for (std::size_t k = 0; k < count_; ++k) widest = std::max(widest, access_[k].compute_size);
  const std::int64_t columns = walk_.extent(walk_.rank() - 1);
  const std::int64_t rows = split_.rows < 0 ? 1 : walk_.extent(split_.rows);
  std::int64_t max_columns = direct_columns;
  if (row_access_ == RowAccess::buffered)
    max_columns = buffer_bytes >> std::countr_zero(static_cast<std::uint64_t>(widest));
  if (body_.block != 0) max_columns = body_.block;
  split_.block_columns =
      std::min({columns, max_columns, has_transposed_ ? transposed_columns : max_columns});
  if (split_.block_columns == columns)
    split_.block_rows = rows * columns <= max_columns
                            ? rows
                            : std::clamp<std::int64_t>(max_columns / columns, 1, rows);
  if (row_access_ == RowAccess::buffered && !has_mask_) run_rows_ = split_.block_rows;
  if (has_transposed_)
    split_.block_rows = std::max(split_.block_rows, std::min(rows, transposed_rows));
}

void CpuLoop::place_buffers() {
  if (row_access_ != RowAccess::buffered) return;
  for (std::size_t k = 0; k < count_; ++k) {
    OperandAccess& access = access_[k];
    access.is_constant = operands_[k].role == ArrayRole::read;
    for (int axis = 0; axis < walk_.rank() && access.is_constant; ++axis)
      access.is_constant = walk_.stride(axis, static_cast<int>(k)) == 0;
    const std::int64_t rows = access.is_transposed ? split_.block_rows : run_rows_;
    const std::int64_t bytes = rows * split_.block_columns * access.compute_size;
    access.buffer = memory_;
    memory_ += static_cast<std::size_t>((bytes + cache_line_bytes - 1) / cache_line_bytes *
                                        cache_line_bytes) +
               buffer_gap;
  }
}

void CpuLoop::run() const {
  std::array<std::byte*, max_arrays> data;
  std::array<std::int64_t, max_arrays> itemsizes;
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    itemsizes[k] = access_[k].itemsize;
    data[k] = operands_[k].data + walk_.offset(static_cast<int>(k)) * itemsizes[k];
  }
  if (split_.block_rows * split_.block_columns == walk_.size()) {
    Buffers buffers = make_buffers();
    return run_block(data.data(), split_.block_rows, split_.block_columns, buffers);
  }
  const BlockLoop loop(walk_, std::span(data.data(), operands_.size()),
                       std::span(itemsizes.data(), operands_.size()), split_);
  const auto run = [&](std::int64_t first, std::int64_t last) {
    Buffers buffers = make_buffers();
    loop.run(first, last, [&](std::byte* const* block, std::int64_t rows, std::int64_t columns) {
      run_block(block, rows, columns, buffers);
    });
  };
  const std::int64_t grain = body_.grain / (split_.block_rows * split_.block_columns);
  parallel_for(loop.count(), std::max<std::int64_t>(1, grain), run);
}

CpuLoop::Buffers CpuLoop::make_buffers() const {
  Buffers buffers;
  const std::size_t bytes = memory_ + body_.scratch_bytes;
  if (bytes > 0) buffers.memory = thread_scratch(bytes);
  std::fill_n(buffers.source.begin(), count_, nullptr);
  return buffers;
}

void CpuLoop::run_block(std::byte* const* data, std::int64_t rows, std::int64_t columns,
                        Buffers& buffers) const {
  std::byte* arrays[max_arrays + 1];
  arrays[count_] = buffers.memory + memory_;
  if (rows <= run_rows_ && !has_transposed_) return run_rows(data, rows, columns, arrays, buffers);
  std::byte* row_data[max_arrays];
  std::copy_n(data, operands_.size(), row_data);
  for (std::size_t k = 0; k < count_; ++k)
    if (access_[k].is_transposed) arrays[k] = load(k, row_data[k], rows, columns, buffers);
  for (std::int64_t row = 0; row < rows; row += run_rows_) {
    const std::int64_t n = std::min(run_rows_, rows - row);
    run_rows(row_data, n, columns, arrays, buffers);
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      row_data[k] += n * access_[k].row_step;
      if (k < count_ && access_[k].is_transposed)
        arrays[k] += n * columns * access_[k].compute_size;
    }
  }
}

void CpuLoop::run_rows(std::byte* const* data, std::int64_t rows, std::int64_t columns,
                       std::byte** arrays, Buffers& buffers) const {
  for (std::size_t k = 0; k < count_; ++k) {
    const OperandAccess& access = access_[k];
    if (access.is_transposed) continue;
    if (row_access_ != RowAccess::buffered || operands_[k].is_element ||
        is_usable(access, rows, columns))
      arrays[k] = data[k];
    else if (operands_[k].role == ArrayRole::read)
      arrays[k] = load(k, data[k], rows, columns, buffers);
    else
      arrays[k] = buffers.memory + access.buffer;
  }
  if (row_access_ == RowAccess::strided) {
    std::int64_t steps[max_arrays];
    for (std::size_t k = 0; k < count_; ++k) steps[k] = access_[k].step;
    return body_.strided(columns, arrays, steps);
  }
  if (row_access_ == RowAccess::with_number)
    return body_.with_number(body_.context, columns, arrays);
  if (has_mask_) return run_masked(data[count_], columns, arrays, data);
  body_(rows * columns, arrays);
  for (std::size_t k = 0; k < count_; ++k)
    if (operands_[k].role == ArrayRole::write && arrays[k] != data[k])
      store(k, arrays[k], data[k], rows, columns);
}

// Computes only elements that the mask selects: others may be invalid, such as negative exponents.
void CpuLoop::run_masked(const std::byte* mask, std::int64_t columns, std::byte* const* arrays,
                         std::byte* const* targets) const {
  std::byte* parts[max_arrays + 1];
  parts[count_] = arrays[count_];
  bool is_in_place = true;
  for (std::size_t k = 0; k < count_; ++k)
    is_in_place &= operands_[k].role == ArrayRole::read || arrays[k] == targets[k];
  for_each_selected(mask, access_[count_].step, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t k = 0; k < count_; ++k) parts[k] = arrays[k] + begin * access_[k].compute_size;
    body_(end - begin, parts);
    if (is_in_place) return;
    for (std::size_t k = 0; k < count_; ++k)
      if (operands_[k].role == ArrayRole::write && arrays[k] != targets[k])
        store(k, parts[k], targets[k] + begin * access_[k].step, 1, end - begin);
  });
}

// The input's elements in a buffer. Those of a broadcast input may be there already.
std::byte* CpuLoop::load(std::size_t k, std::byte* from, std::int64_t rows, std::int64_t columns,
                         Buffers& buffers) const {
  const OperandAccess& access = access_[k];
  std::byte* const buffer = buffers.memory + access.buffer;
  const std::int64_t n = rows * columns;
  if (buffers.source[k] == from && buffers.loaded[k] >= n &&
      (access.is_constant || buffers.columns[k] == columns))
    return buffer;
  convert_block(operands_[k].dtype, operands_[k].compute,
                {buffer, from, rows, columns, columns * access.compute_size, access.compute_size,
                 access.row_step, access.step});
  buffers.source[k] = from;
  buffers.loaded[k] = n;
  buffers.columns[k] = columns;
  return buffer;
}

void CpuLoop::store(std::size_t k, const std::byte* from, std::byte* to, std::int64_t rows,
                    std::int64_t columns) const {
  const OperandAccess& access = access_[k];
  convert_block(operands_[k].compute, operands_[k].dtype,
                {to, from, rows, columns, access.row_step, access.step,
                 columns * access.compute_size, access.compute_size});
}

// Arrays of more bytes do not stay in the cache, and blocks of several arrays are too short for the
// processor's own prefetching: the next blocks are prefetched to the L2 cache.
constexpr std::int64_t cached_bytes = 8 << 20;

void prefetch(const std::byte* data, std::int64_t bytes) noexcept {
  for (std::int64_t offset = 0; offset < bytes; offset += 64)
    __builtin_prefetch(data + offset, 0, 2);
}

// Runs the body on contiguous arrays of one shape and of the body's dtypes, from which a mask may
// select, or on one such array and numbers. Returns false, and does nothing, for other operands.
bool try_run_dense(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  std::byte* arrays[max_arrays];
  std::int64_t steps[max_arrays];
  std::size_t count = 0, numbers = 0;
  const std::byte* mask = nullptr;
  for (const CpuOperand& operand : operands) {
    const Layout& layout = *operand.layout;
    std::int64_t step = 0;
    if (!operand.is_element) {
      if (operand.is_stored_late || !is_native(operand)) return false;
      if (layout.shape == shape && layout.is_row_major())
        step = operand.compute.itemsize();
      else if (operand.role == ArrayRole::read && count > 0 && layout.size() == 1)
        ++numbers;
      else
        return false;
    }
    if (operand.role == ArrayRole::mask) {
      mask = operand.data;
      break;
    }
    arrays[count] = operand.data;
    steps[count++] = step;
  }
  if (numbers > 0 && (body.with_number == nullptr || numbers + 2 != count)) return false;
  const CpuBody::Loop loop = numbers > 0 ? body.with_number : body.loop;
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  const bool is_small = body.block == 0 && size < 2 * body.grain;
  if (is_small && mask == nullptr) {
    loop(body.context, size, arrays);
    return true;
  }
  const std::int64_t bytes = size * std::accumulate(steps, steps + count, std::int64_t{0});
  const bool prefetches = body.block != 0 && bytes > cached_bytes;
  const auto run = [&](std::int64_t first, std::int64_t last) {
    std::byte* parts[max_arrays + 1];
    if (body.scratch_bytes > 0) parts[count] = thread_scratch(body.scratch_bytes);
    const std::int64_t block = body.block == 0 ? last - first : body.block;
    for (; first < last; first += block) {
      const std::int64_t n = std::min(block, last - first);
      for (std::size_t k = 0; k < count; ++k) {
        parts[k] = arrays[k] + first * steps[k];
        if (prefetches) prefetch(parts[k] + n * steps[k], std::min(n, last - first - n) * steps[k]);
      }
      if (mask == nullptr)
        loop(body.context, n, parts);
      else
        for_each_selected(mask + first, 1, n, [&](std::int64_t begin, std::int64_t end) {
          for (std::size_t k = 0; k < count; ++k) parts[k] = arrays[k] + (first + begin) * steps[k];
          loop(body.context, end - begin, parts);
        });
    }
  };
  if (is_small)
    run(0, size);
  else
    parallel_for(size, body.grain, run);
  return true;
}

}  // namespace

void run_on_cpu(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  if (!try_run_dense(shape, operands, body)) CpuLoop(shape, operands, body).run();
}

}  // namespace spanwise::strided
