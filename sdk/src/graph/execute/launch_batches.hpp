// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/ref.hpp"

namespace spanwise::graph {

struct Step;

/// Batches the kernel launches of consecutive asynchronous steps of a program
/// (runtime::LaunchBatch). For one run at a time.
class LaunchBatches {
 public:
  LaunchBatches() = default;
  explicit LaunchBatches(const std::vector<Step>& steps);

  /// Call before step `position` runs.
  void before(std::size_t position) {
    if (!joins_.empty() && joins_[position] != is_joining_) set_joining(joins_[position]);
  }
  /// Call after the last step. Submits the batch and throws the errors of its launches.
  void finish() {
    if (is_joining_) set_joining(false);
  }
  /// Call after a step that failed: submits the batch and ignores its errors, since another error
  /// is being reported.
  void abort_batch() noexcept;

 private:
  void set_joining(bool join);

  Device device_ = cpu;
  std::vector<bool> joins_;  // per step: whether it joins the batch; empty: batching is not used
  Ref<runtime::LaunchBatch> batch_;
  bool is_joining_ = false, is_open_ = false;  // is_open_: the device batches launches
};

}  // namespace spanwise::graph
