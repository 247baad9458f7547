// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// The largest rank, the same as in NumPy 2.
inline constexpr int max_rank = 64;

/// Prints like a Python tuple: (), (3,), (2, 3).
SW_API std::ostream& print_tuple(std::ostream& out, std::span<const std::int64_t> values);

/// A list of 64-bit integers, one per axis. Up to six are stored inline, so views of ordinary
/// arrays do not allocate. Tag makes shapes and strides distinct types.
template <class Tag>
class Dims {
 public:
  static constexpr int inline_capacity = 6;
  using value_type = std::int64_t;

  Dims() noexcept = default;
  explicit Dims(int size, std::int64_t value = 0) : size_(size) {
    allocate();
    std::fill_n(data(), size_, value);
  }
  Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values)) {}
  explicit Dims(std::span<const std::int64_t> values) : size_(static_cast<int>(values.size())) {
    allocate();
    copy_numbers(values.data(), size_, data());
  }
  Dims(const Dims& other) : size_(other.size_) {
    allocate();
    copy_numbers(other.data(), size_, data());
  }
  Dims(Dims&& other) noexcept { move_from(other); }
  ~Dims() {
    if (size_ > inline_capacity) delete[] heap_;
  }
  Dims& operator=(const Dims& other) { return *this = Dims(other); }
  Dims& operator=(Dims&& other) noexcept {
    if (this != &other) {
      if (size_ > inline_capacity) delete[] heap_;
      move_from(other);
    }
    return *this;
  }

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t* data() noexcept { return size_ > inline_capacity ? heap_ : inline_; }
  const std::int64_t* data() const noexcept { return size_ > inline_capacity ? heap_ : inline_; }
  std::int64_t* begin() noexcept { return data(); }
  std::int64_t* end() noexcept { return data() + size_; }
  const std::int64_t* begin() const noexcept { return data(); }
  const std::int64_t* end() const noexcept { return data() + size_; }
  std::int64_t& operator[](int axis) noexcept { return data()[axis]; }
  std::int64_t operator[](int axis) const noexcept { return data()[axis]; }
  std::int64_t back() const noexcept { return data()[size_ - 1]; }

  Dims inserted(int axis, std::int64_t value) const {
    Dims out(size_ + 1);
    copy_numbers(data(), axis, out.data());
    out[axis] = value;
    copy_numbers(data() + axis, size_ - axis, out.data() + axis + 1);
    return out;
  }
  Dims erased(int axis) const {
    Dims out(size_ - 1);
    copy_numbers(data(), axis, out.data());
    copy_numbers(data() + axis + 1, size_ - axis - 1, out.data() + axis);
    return out;
  }

  friend bool operator==(const Dims& a, const Dims& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, const Dims& dims) {
    return print_tuple(out, {dims.data(), static_cast<std::size_t>(dims.size_)});
  }

 private:
  void allocate() {
    if (size_ > inline_capacity) heap_ = new std::int64_t[static_cast<std::size_t>(size_)];
  }
  // Moves from `other`, which is empty afterwards. Does not free the previous contents.
  void move_from(Dims& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    if (size_ > inline_capacity)
      heap_ = other.heap_;
    else
      copy_numbers(other.inline_, size_, inline_);
  }
  // Copies short lists one number at a time: these were just written one at a time, and a wider
  // load of bytes from several narrower stores in flight stalls until all have retired (no store
  // forwarding).
  static void copy_numbers(const std::int64_t* from, int count, std::int64_t* to) noexcept {
    if (count > inline_capacity)
      std::copy_n(from, count, to);
    else
      copy_few(from, count, to, std::make_index_sequence<inline_capacity>());
  }
  template <std::size_t... index>
  static void copy_few(const std::int64_t* from, int count, std::int64_t* to,
                       std::index_sequence<index...>) noexcept {
    // Stops at `count`; a fold expression, since compilers would vectorise a loop.
    static_cast<void>(
        ((static_cast<int>(index) < count && (to[index] = from[index], true)) && ...));
  }

  int size_ = 0;
  union {
    std::int64_t inline_[inline_capacity] = {};
    std::int64_t* heap_;
  };
};

/// Extents, one per axis, each >= 0.
using Shape = Dims<struct ShapeTag>;
/// Strides in elements, of any sign, 0 for a broadcast axis.
using Strides = Dims<struct StridesTag>;

/// A Python slice. A missing `step` is 1; a missing `start` is the first element in the step's
/// direction, and a missing `stop` includes the last one.
struct Slice {
  std::optional<std::int64_t> start{}, stop{}, step{};
};

/// Maps the indices of an array to elements of a storage. Pure index arithmetic, no memory.
///
/// Element (i0, i1, ...) is at offset + i0 * strides[0] + i1 * strides[1] + ..., in elements from
/// the storage's first byte. Contiguity ignores axes of extent 1 and holds for size 0. All members
/// are pure. Views follow NumPy (numpy.ndarray.strides, basic indexing), against which they are
/// tested. A negative `axis` counts from the end; one out of range throws AxisError.
struct SW_API Layout {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;

  /// C order, offset 0. Throws LayoutError for a negative extent, a rank above max_rank, or where
  /// the product of the extents other than 0 does not fit in 63 bits.
  static Layout row_major(const Shape& shape);
  /// Fortran order, offset 0. Throws as row_major.
  static Layout column_major(const Shape& shape);

  /// A dense layout of shape `extents` and offset 0 with this layout's order of axes by stride, all
  /// strides positive: NumPy's order='K'. Throws LayoutError unless there are rank() extents, and
  /// as row_major.
  Layout packed(const Shape& extents) const;

  int rank() const noexcept { return shape.size(); }
  /// Number of elements; 1 for rank 0.
  std::int64_t size() const noexcept {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    return size;
  }
  bool is_row_major() const noexcept;
  bool is_column_major() const noexcept;
  /// {lowest, highest} offset of an element; {0, -1} for size 0. Bounds that do not fit in 64 bits
  /// saturate.
  std::pair<std::int64_t, std::int64_t> offset_range() const noexcept;
  [[deprecated("use offset_range()")]] std::pair<std::int64_t, std::int64_t> extent()
      const noexcept {
    return offset_range();
  }
  /// False where every index certainly maps to its own element. True for stride 0 on an extent > 1
  /// and for interleaved axes, possibly a false positive. Such a layout must not be written in
  /// parallel.
  bool may_overlap_itself() const;

  /// Maps a negative `axis`, which counts from the end, to its index. Throws AxisError where it is
  /// out of range.
  int normalise_axis(std::int64_t axis) const;
  /// Selects index `i` and removes `axis`; negative `i` counts from the end. Throws BoundsError
  /// where it is out of range.
  Layout index(int axis, std::int64_t i) const;
  /// Slices `axis` by Python's rules. Throws ArgumentError for step 0.
  Layout slice(int axis, const Slice& range) const;
  /// Inserts an axis of extent 1 that becomes axis `axis` of the result (numpy.expand_dims). Throws
  /// LayoutError where `axis` is out of range or the rank would exceed max_rank.
  Layout expand(int axis) const;
  /// Removes `axis`. Throws LayoutError unless its extent is 1.
  Layout squeeze(int axis) const;
  /// Axis i of the result is axis axes[i] of this. Throws LayoutError unless `axes` is a
  /// permutation.
  Layout permute(std::span<const int> axes) const;
  /// All axes in reverse order.
  Layout transpose() const;
  /// NumPy's broadcasting to `target`, with stride 0 on broadcast axes. Throws LayoutError where
  /// the shapes do not broadcast.
  Layout broadcast_to(const Shape& target) const;
  /// numpy.diagonal with offset `k`: removes both axes and appends the diagonal as the last axis.
  /// Throws LayoutError unless there are two different axes.
  Layout diagonal(std::int64_t k, int axis1, int axis2) const;
  /// The same elements in C order in another shape; nullopt where that needs a copy. One extent may
  /// be -1. Throws as resolve_shape and row_major.
  std::optional<Layout> reshape(const Shape& target) const;
  /// The same bytes as elements of `to_itemsize` bytes (ndarray.view(dtype)); changes the extent of
  /// the last axis. Throws LayoutError where shape, strides or offset do not allow it.
  Layout reinterpret(int from_itemsize, int to_itemsize) const;

  friend bool operator==(const Layout&, const Layout&) noexcept = default;
};

/// Prints shape, strides (in elements) and offset.
SW_API std::ostream& operator<<(std::ostream& out, const Layout& layout);

/// `shape` with its -1, if any, replaced so that the size is `size`. Throws LayoutError for several
/// -1, for other negative extents, and where no extent or every extent gives that size.
SW_API Shape resolve_shape(const Shape& shape, std::int64_t size);
/// numpy.broadcast_shapes; -1 is an unknown extent, which results in n beside any n other than 1,
/// and in -1 beside 1. Throws LayoutError naming the shapes.
SW_API Shape broadcast_shapes(std::span<const Shape> shapes);

/// "(2, 3) and (3, ?)", for messages: extents of -1 are unknown.
SW_API std::string shapes_text(std::span<const Shape> shapes);

/// "(12, 4)": strides of elements of `itemsize` bytes in bytes, as messages and a.strides of Python
/// show them.
SW_API std::string strides_text(const Strides& strides, int itemsize);

}  // namespace spanwise
