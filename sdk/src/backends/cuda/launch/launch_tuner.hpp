// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "backends/cuda/device_context.hpp"

namespace spanwise::cuda {

/// How a kernel is queued: by cuLaunchKernel, or as a CUDA graph of one node
/// (KernelGraphCache).
enum class LaunchPath : std::uint8_t { direct, graph };

/// Whether a profiler or compute-sanitizer is attached to this process. Kernels are then launched
/// directly: Nsight Systems shows a graph as one bar, and under compute-sanitizer graphs on two
/// streams wait for one another.
bool is_watched_by_tool();

/// Chooses how one kernel is launched, config "kernel_launch": "direct", "graph", or "auto", the
/// one that takes less host time. That depends on the machine, and on how the program uses the
/// kernel: whether its arguments change, and whether the GPU is busy. So it is measured on the
/// program's first launches of the kernel, and again after ever more launches. Thread-safe.
class LaunchTuner {
 public:
  using Time = std::chrono::nanoseconds;

  /// What to do with the next launch.
  struct Plan {
    LaunchPath path = LaunchPath::direct;
    bool is_timed = false;  ///< the caller calls record() or record_refusal()
  };
  Plan plan() noexcept;
  void record(LaunchPath path, Time time) noexcept;
  /// The kernel could not be launched as a graph, as planned.
  void record_refusal() noexcept;
  /// Whether several kernels may be launched as one graph, which is faster on every machine: with
  /// "graph", and with "auto" unless a tool is attached.
  static bool joins_kernels();

 private:
  struct Samples {
    bool add(Time time) noexcept;  ///< returns is_full()
    bool is_full() const noexcept { return count == times.size(); }
    Time median() noexcept;  ///< requires is_full()

    std::array<Time, 7> times{};
    std::size_t count = 0;
  };
  Samples& samples_of(LaunchPath path) noexcept { return samples_[static_cast<std::size_t>(path)]; }
  void choose(LaunchPath path) noexcept;

  std::atomic<int> launches_left_{0};  // before the next measurement; 0: it is running
  std::atomic<LaunchPath> choice_{LaunchPath::direct}, timed_path_{LaunchPath::direct};
  SpinLock mutex_;  // guards the following
  std::array<Samples, 2> samples_;
  int refusals_ = 0, interval_ = 0;
  bool is_comparing_ = false;
};

}  // namespace spanwise::cuda
