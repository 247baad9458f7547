// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/launch_tuner.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

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

// Nanoseconds. A GPU starts successive graphs of one node 2.0 to 2.6 us apart (H100, H200, driver
// 580), and directly launched kernels closer together. If the host launches directly in that time,
// graphs do not make a sequence of small kernels faster.
constexpr LaunchTuner::Time interval_of_graphs{2200};

// Graphs are chosen if their host time is below this fraction of the direct launch's.
constexpr double max_time_ratio = 0.75;

// Launches between two measurements: the first number, and where the choice stays the same four
// times as many each time, up to the last number.
constexpr int min_interval = 64, max_interval = 16384;

// Launches as graphs that are refused in one measurement before direct ones are chosen: more than a
// kernel needs to get its graph.
constexpr int max_refusals = 32;

}  // namespace

bool is_watched_by_tool() {
  // Nsight Systems and Nsight Compute set the first in processes that they are injected into,
  // compute-sanitizer the second.
  static const bool is_watched = std::getenv("CUDA_INJECTION64_PATH") != nullptr ||
                                 std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") != nullptr;
  return is_watched;
}

LaunchTuner::Plan LaunchTuner::plan() noexcept {
  const unsigned chosen = launch_setting.get();
  if (chosen != automatic) return {chosen == graph ? LaunchPath::graph : LaunchPath::direct};
  // Not one atomic operation: launches of other threads need not be counted exactly.
  const int left = launches_left_.load(std::memory_order_relaxed);
  if (left == 0) return {timed_path_.load(std::memory_order_relaxed), true};
  launches_left_.store(left - 1, std::memory_order_relaxed);
  return {choice_.load(std::memory_order_relaxed)};
}

bool LaunchTuner::joins_kernels() {
  const unsigned chosen = launch_setting.get();
  return chosen == graph || (chosen == automatic && !is_watched_by_tool());
}

// The median, because a launch may wait for space in the stream or for another process.
bool LaunchTuner::Samples::add(Time time) noexcept {
  if (count < times.size()) times[count++] = time;
  return count == times.size();
}

LaunchTuner::Time LaunchTuner::Samples::median() noexcept {
  const auto middle = times.begin() + times.size() / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

// A measurement first times direct launches. Only if these are slow, direct launches and graphs are
// timed in turn: so both have the same arguments, and find the GPU equally busy.
void LaunchTuner::record(LaunchPath path, Time time) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const bool is_full = samples_of(path).add(time);
  if (is_comparing_) {
    const LaunchPath other = path == LaunchPath::direct ? LaunchPath::graph : LaunchPath::direct;
    timed_path_.store(other, std::memory_order_relaxed);
    if (is_full && samples_of(other).is_full())
      choose(samples_of(LaunchPath::graph).median() <
                     max_time_ratio * samples_of(LaunchPath::direct).median()
                 ? LaunchPath::graph
                 : LaunchPath::direct);
  } else if (is_full) {
    if (samples_of(path).median() <= interval_of_graphs || is_watched_by_tool())
      return choose(LaunchPath::direct);
    is_comparing_ = true;
    samples_of(path).count = 0;
    timed_path_.store(LaunchPath::graph, std::memory_order_relaxed);
  }
}

void LaunchTuner::record_refusal() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && ++refusals_ == max_refusals) choose(LaunchPath::direct);
}

// Ends the measurement.
void LaunchTuner::choose(LaunchPath path) noexcept {
  const bool is_same = choice_.exchange(path, std::memory_order_relaxed) == path;
  interval_ = is_same && interval_ != 0 ? std::min(4 * interval_, max_interval) : min_interval;
  for (Samples& samples : samples_) samples.count = 0;
  refusals_ = 0;
  is_comparing_ = false;
  timed_path_.store(LaunchPath::direct, std::memory_order_relaxed);
  launches_left_.store(interval_, std::memory_order_relaxed);
}

}  // namespace spanwise::cuda
