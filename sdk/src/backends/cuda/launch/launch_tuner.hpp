// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace spanwise::cuda {

/// How a kernel is queued: by cuLaunchKernel, or as a CUDA graph of one node
/// (KernelGraphCache).
enum class LaunchPath : std::uint8_t { direct, graph };

/// Whether a profiler or compute-sanitizer is attached to this process. Kernels are then launched
/// directly: Nsight Systems shows a graph as one bar, and under compute-sanitizer graphs on two
/// streams wait for one another.
bool is_watched_by_tool();

/// Chooses how kernels are launched on one device, config "kernel_launch": "direct", "graph", or
/// "auto", the one that takes less host time. That depends on the machine, so it is measured on the
/// program's first launches. Thread-safe.
class LaunchTuner {
 public:
  using Time = std::chrono::nanoseconds;

  /// What to do with the next launch.
  struct Plan {
    LaunchPath path = LaunchPath::direct;
    bool is_timed = false;  ///< the caller measures the launch and calls record()
  };
  Plan plan() const;
  void record(LaunchPath path, Time time) noexcept;
  /// Whether several kernels may be launched as one graph, which is faster on every machine: with
  /// "graph", and with "auto" unless a tool is attached.
  static bool joins_kernels();

 private:
  enum class TuningPhase : std::uint8_t { timing_direct, timing_graph, direct, graph };
  struct Samples {
    std::atomic<int> count{0};
    std::atomic<Time::rep> min_time{Time::max().count()};
  };
  void decide(LaunchPath timed) noexcept;
  Time::rep min_time(LaunchPath path) const noexcept {
    return samples_[static_cast<std::size_t>(path)].min_time.load(std::memory_order_relaxed);
  }

  std::atomic<TuningPhase> phase_{TuningPhase::timing_direct};
  std::array<Samples, 2> samples_;
};

}  // namespace spanwise::cuda
