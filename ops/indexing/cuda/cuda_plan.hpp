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

/// The description of a selection that kernels receive: the bytes of their Plan (see
/// cuda_source.cpp), with axes merged as far as the strides allow. The selection and the value must
/// outlive it.
class GpuPlan {
 public:
  /// An element consists of `words` words of the kernels; `value` has the result's shape.
  GpuPlan(const Selection& selection, const Array& value, std::int64_t words);

  int rank() const noexcept { return static_cast<int>(axes_.size()); }
  int index_count() const noexcept { return static_cast<int>(selection_.indices.size()); }
  /// The number of words that are moved, and of words that the indices can select.
  std::int64_t size() const noexcept { return size_; }
  std::int64_t targets() const noexcept { return targets_; }
  /// Whether two positions may select one element and write different values to it.
  bool may_have_duplicates() const noexcept;
  /// The bytes of Plan: all members are 8 bytes, so it has no padding.
  std::vector<std::int64_t> packed() const;

  /// Orders `stream` after the queued work on the arrays.
  void order(const Stream& stream, bool writes_array) const;
  /// One thread per word.
  LaunchConfig launch(const Stream& stream) const;
  /// The name of the kernel with 32- or 64-bit counters: "read_elements32".
  std::string kernel(const char* name) const;

 private:
  // One axis of the result: all strides in words, those of the index arrays in elements.
  struct Axis {
    std::int64_t extent = 1, array = 0, value = 0, target = 0;
    std::vector<std::int64_t> index;
    bool merges_with(const Axis& inner) const;
  };
  std::vector<std::int64_t> zero_strides() const;
  void plan_targets();
  void add_basic(int i);
  void add_position(int i);
  void add(Axis axis);

  const Selection& selection_;
  const Array& value_;
  std::int64_t words_, size_ = 1, targets_ = 1;
  std::array<std::int64_t, max_rank> basic_targets_;
  Strides position_targets_;
  std::vector<std::int64_t> index_targets_;
  std::vector<Axis> axes_;
};

}  // namespace spanwise::ops
