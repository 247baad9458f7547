// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <utility>

#include "spanwise/export.hpp"

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

}  // namespace spanwise
