// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/launch_tuner.hpp"

#include <cstdlib>

#include "spanwise/runtime/config.hpp"

namespace spanwise::cuda {
namespace {

// In the order of the setting's choices.
enum LaunchChoice : unsigned { automatic, direct, graph };

[[maybe_unused]] const bool launch_declared = config::declare({
    .name = "kernel_launch",
    .description =
        "how kernels are queued on a GPU: direct (cuLaunchKernel), graph (as a CUDA graph of one "
        "node, which virtual machines queue in half the time), or auto, the quicker of the two",
    .default_value = "auto",
    .choices = {"auto", "direct", "graph"},
});
constinit const config::Choice launch_setting{"kernel_launch"};

constexpr int enough_samples = 16;

// Nanoseconds. A GPU starts successive graphs of one node 2.0 to 2.6 us apart (H100, H200, driver
// 580), and directly launched kernels closer together. If the host launches directly in that time,
// graphs do not make a sequence of small kernels faster.
constexpr LaunchTuner::Time interval_of_graphs{2200};

// Graphs are chosen if their host time is below this fraction of the direct launch's.
constexpr double max_time_ratio = 0.75;

}  // namespace

bool is_watched_by_tool() {
  // Nsight Systems and Nsight Compute set the first in processes that they are injected into,
  // compute-sanitizer the second.
  static const bool is_watched = std::getenv("CUDA_INJECTION64_PATH") != nullptr ||
                                 std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") != nullptr;
  return is_watched;
}

LaunchTuner::Plan LaunchTuner::plan() const {
  const unsigned chosen = launch_setting.get();
  if (chosen != automatic) return {chosen == graph ? LaunchPath::graph : LaunchPath::direct};
  const TuningPhase phase = phase_.load(std::memory_order_relaxed);
  const bool times_graph = phase == TuningPhase::timing_graph;
  const bool is_graph = times_graph || phase == TuningPhase::graph;
  return {is_graph ? LaunchPath::graph : LaunchPath::direct,
          times_graph || phase == TuningPhase::timing_direct};
}

bool LaunchTuner::joins_kernels() {
  const unsigned chosen = launch_setting.get();
  return chosen == graph || (chosen == automatic && !is_watched_by_tool());
}

// Takes the minimum of several samples, because a launch may wait for space in the stream or for
// another process.
void LaunchTuner::record(LaunchPath path, Time time) noexcept {
  Samples& samples = samples_[static_cast<std::size_t>(path)];
  Time::rep min_time = samples.min_time.load(std::memory_order_relaxed);
  while (time.count() < min_time && !samples.min_time.compare_exchange_weak(
                                        min_time, time.count(), std::memory_order_relaxed)) {
  }
  if (samples.count.fetch_add(1, std::memory_order_relaxed) + 1 == enough_samples) decide(path);
}

// Called when `timed` has enough samples.
void LaunchTuner::decide(LaunchPath timed) noexcept {
  const Time::rep direct_time = min_time(LaunchPath::direct);
  TuningPhase next = TuningPhase::direct;
  if (timed == LaunchPath::direct) {
    if (direct_time > interval_of_graphs.count() && !is_watched_by_tool())
      next = TuningPhase::timing_graph;
  } else if (static_cast<double>(min_time(LaunchPath::graph)) <
             max_time_ratio * static_cast<double>(direct_time)) {
    next = TuningPhase::graph;
  }
  phase_.store(next, std::memory_order_relaxed);
}

}  // namespace spanwise::cuda
