// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "spanwise/core/dtype.hpp"

/// The arithmetic of foreign strides, which may have any value.
namespace spanwise::bridges {

/// The offsets that a layout reaches from element (0, ..., 0), in the unit of its strides.
struct Reach {
  std::int64_t lowest = 0, highest = 0;
  std::int64_t size = 1;  ///< number of indices

  /// Adds an axis of `extent` >= 1 indices. Returns false on overflow.
  bool try_add(std::int64_t extent, std::int64_t stride) noexcept {
    std::int64_t step;
    bool overflows = __builtin_mul_overflow(size, extent, &size);
    overflows |= __builtin_mul_overflow(stride, extent - 1, &step);
    std::int64_t& bound = step < 0 ? lowest : highest;
    overflows |= __builtin_add_overflow(bound, step, &bound);
    return !overflows;
  }
};

/// Division of byte strides by the element size. Nearly all sizes are powers of two, for which a
/// shift takes a tenth of the time of a division.
class ItemSize {
 public:
  explicit ItemSize(std::int64_t bytes) noexcept
      : bytes_(bytes),
        shift_(__builtin_ctzll(static_cast<unsigned long long>(bytes))),
        // Not std::has_single_bit: without a popcount instruction it is a call.
        is_power_of_two_((bytes & (bytes - 1)) == 0) {}
  bool is_power_of_two() const noexcept { return is_power_of_two_; }
  bool divides(std::int64_t stride) const noexcept {
    return is_power_of_two_ ? (stride & (bytes_ - 1)) == 0 : stride % bytes_ == 0;
  }
  /// The stride in elements; `stride` must be a multiple of the element size.
  std::int64_t to_elements(std::int64_t stride) const noexcept {
    return is_power_of_two_ ? stride >> shift_ : stride / bytes_;
  }

 private:
  std::int64_t bytes_;
  int shift_;
  bool is_power_of_two_;
};

}  // namespace spanwise::bridges
