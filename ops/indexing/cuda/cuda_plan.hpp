// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../selection.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {

/// What kernels need to know of a selection: the bytes of their Plan (see cuda_source.cpp), with as
/// few axes as the strides allow. It refers to what it was made of.
class GpuPlan {
 public:
  /// `words` of the kernels make an element; `value` has the result's shape.
  GpuPlan(const Selection& selection, const Array& value, std::int64_t words);

  int rank() const noexcept { return static_cast<int>(axes_.size()); }
  int index_count() const noexcept { return static_cast<int>(selection_.indices.size()); }
  /// How many words are moved, and how many places the indices can name.
  std::int64_t size() const noexcept { return size_; }
  std::int64_t targets() const noexcept { return targets_; }
  /// Two positions can only name one element where an index array says so, and it only matters
  /// where the two would write different values.
  bool may_name_twice() const noexcept;
  /// Each number is eight bytes, so there are no gaps.
  std::vector<std::int64_t> packed() const;

  /// Orders `stream` behind what is queued for the arrays.
  void order(const Stream& stream, bool writes_array) const;
  /// A thread for each word.
  LaunchConfig launch(const Stream& stream) const;
  /// The form of a kernel that counts as far as it must: "read_elements32".
  std::string kernel(const char* name) const;

 private:
  // One axis of the result: all strides in words, those of the index arrays in elements.
  struct Axis {
    std::int64_t extent = 1, array = 0, value = 0, target = 0;
    std::vector<std::int64_t> index;
    bool runs_on_in(const Axis& inner) const;
  };
  std::vector<std::int64_t> zeros_for_indices() const;
  void plan_targets();
  void add_plain(int i);
  void add_position(int i);
  void add(Axis axis);

  const Selection& selection_;
  const Array& value_;
  std::int64_t words_, size_ = 1, targets_ = 1;
  std::array<std::int64_t, max_rank> plain_targets_;
  Strides riding_targets_;
  std::vector<std::int64_t> index_targets_;
  std::vector<Axis> axes_;
};

}  // namespace spanwise::ops
