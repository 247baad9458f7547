// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/device.hpp"
#include "spanwise/ref.hpp"

namespace spanwise::graph {

struct Step;

/// Which steps of a program give their kernels to the device together (runtime::LaunchBatch): those
/// next to each other that do nothing there but queue. For one run at a time.
class LaunchBatches {
 public:
  LaunchBatches() = default;
  explicit LaunchBatches(const std::vector<Step>& steps);

  /// Before step `position` runs.
  void before(std::size_t position) {
    if (!joins_.empty() && joins_[position] != is_joining_) change(joins_[position]);
  }
  /// After the last. Throws what the kernels' launches threw.
  void finish() {
    if (is_joining_) change(false);
  }
  /// After a step that failed: what was queued goes to the device, and errors of it are forgotten
  /// beside the one that is on its way.
  void give_up() noexcept;

 private:
  void change(bool join);

  Device device_ = cpu;
  std::vector<bool> joins_;  // empty: none
  Ref<runtime::LaunchBatch> row_;
  bool is_joining_ = false, is_open_ = false;  // open: the device keeps launches back
};

}  // namespace spanwise::graph
