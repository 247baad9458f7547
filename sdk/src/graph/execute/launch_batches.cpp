// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/launch_batches.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "graph/execute/program.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::graph {

// Batches the launches of one device only: a batch belongs to one stream, and launches on other
// devices must not be reordered with it.
LaunchBatches::LaunchBatches(const std::vector<Step>& steps) {
  const auto first = std::ranges::find_if(
      steps, [](const Step& step) { return !runs_on_host(step.device) && step.thunk->is_async(); });
  if (first == steps.end()) return;
  device_ = first->device;
  joins_.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    joins_[i] = steps[i].device == device_ && steps[i].thunk->is_async();
}

// Begins or ends a batch. Where the device does not open one, the steps launch directly.
void LaunchBatches::set_joining(bool join) {
  is_joining_ = join;
  if (join) {
    if (!batch_) batch_ = runtime::backend_for(device_).launch_batch(device_.ordinal());
    is_open_ = batch_ && batch_->open(runtime::current_stream(device_));
  } else if (std::exchange(is_open_, false)) {
    batch_->close();
  }
}

void LaunchBatches::abort_batch() noexcept {
  is_joining_ = false;
  if (!std::exchange(is_open_, false)) return;
  try {
    batch_->close();
  } catch (const std::exception&) {  // another error is being reported
  }
}

}  // namespace spanwise::graph
