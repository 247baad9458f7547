// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace spanwise::cuda {

/// How a kernel gets into a stream: by cuLaunchKernel, or as a CUDA graph of one node
/// (kernel_graph_cache.hpp).
enum class LaunchPath : std::uint8_t { direct, graph };

/// Whether a profiler or compute-sanitizer watches this process. Kernels are then launched
/// directly: Nsight Systems shows a graph as one bar, and under compute-sanitizer graphs of two
/// streams wait for one another.
bool is_watched_by_tool();

/// Which way launches on one device go, config "kernel_launch": "direct", "graph", or "auto", the
/// one that takes the host less time. That depends on the machine, so it is found out from a few
/// launches that the program makes anyway. All members: any thread.
class LaunchTuner {
 public:
  using Time = std::chrono::nanoseconds;

  /// What to do with the next launch.
  struct Plan {
    LaunchPath way = LaunchPath::direct;
    bool is_timed = false;  ///< tell took() how long it was
  };
  Plan plan() const;
  void took(LaunchPath way, Time time) noexcept;
  /// Whether several kernels may be launched as one graph, which is quicker on every machine.
  static bool joins_kernels();

 private:
  enum class State : std::uint8_t { timing_direct, timing_graph, direct, graph };
  struct Samples {
    std::atomic<int> count{0};
    std::atomic<Time::rep> least{Time::max().count()};
  };
  void decide(LaunchPath way) noexcept;
  const Samples& of(LaunchPath way) const noexcept {
    return samples_[static_cast<std::size_t>(way)];
  }

  std::atomic<State> state_{State::timing_direct};
  std::array<Samples, 2> samples_;
};

}  // namespace spanwise::cuda
