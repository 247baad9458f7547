// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/launch_shape.hpp"

namespace spanwise::cuda {

class CudaKernel;

/// A sequence of kernels that is launched repeatedly, as a CUDA graph whose nodes form a chain. A
/// round is: add() each kernel, launch(), next_round(). After a few rounds with the same kernels a
/// graph is created; later rounds update the nodes whose arguments have changed and launch the
/// graph. If the arguments of a chain that holds its kernels recur, as those of a function whose
/// updates alternate between two buffers, there is an executable graph for each of a few rounds.
///
/// The host then makes one driver call per round instead of one per kernel, and a cheaper one: 1.4
/// us instead of 3.0 us for cuLaunchKernel (H200 in a virtual machine). The driver serializes the
/// launches of one graph across streams (CUDA driver API, "Graph Management"), so each stream needs
/// its own chains. Not thread-safe; the device's context must be current.
class LaunchChain {
 public:
  enum class Kernels { held, outlive };
  /// A graph is created after `rounds_before_graph` rounds with the same kernels. `kernels`:
  /// whether the chain holds references to its kernels, or they outlive it.
  LaunchChain(const DeviceContext& context, Kernels kernels, int rounds_before_graph);
  /// Queued launches still run. Any context may be current, and the driver may have shut down.
  ~LaunchChain();
  LaunchChain(const LaunchChain&) = delete;
  LaunchChain& operator=(const LaunchChain&) = delete;

  /// Adds the next kernel of this round. `arguments` as for LoadedKernel::launch; they are copied.
  void add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments);
  /// The number of kernels added in this round.
  std::size_t size() const noexcept { return count_; }
  /// Launches this round's kernels as a graph and returns the driver's result. Returns nothing, and
  /// launches nothing, if there is no graph yet or the driver rejects these kernels as a graph.
  std::optional<CUresult> launch(CUstream stream) noexcept;
  /// A kernel of this round, to be launched directly.
  struct DirectLaunch {
    CudaKernel& kernel;
    const LaunchShape& shape;
    void* const* arguments;
  };
  DirectLaunch at(std::size_t i) const noexcept;
  void next_round() noexcept;

 private:
  struct Link;
  struct Executable;
  bool try_create_graph() noexcept;
  bool try_instantiate() noexcept;
  bool has_arguments(const Executable& executable) const noexcept;
  bool try_select_executable() noexcept;
  bool is_recurring() noexcept;
  bool try_update_nodes(Executable& executable) noexcept;
  void drop_graph() noexcept;

  const DeviceContext& context_;
  const DriverApi& api_;
  const Kernels kernels_;
  const int rounds_before_graph_;
  std::vector<std::unique_ptr<Link>> links_;
  std::size_t count_ = 0;    // of links_, added in this round
  int rounds_ = 0;           // without a graph, with the same kernels
  int graphs_left_;          // graphs that may still be created
  CUgraph graph_ = nullptr;  // kept because the nodes of executables are identified by its nodes
  std::vector<std::unique_ptr<Executable>> executables_;  // the last used comes last
  // Hashes of the arguments of the last rounds for which no executable had them, and how many of
  // these rounds in a row had arguments that were among them.
  std::array<std::size_t, 4> recent_hashes_{};
  std::size_t next_hash_ = 0;
  int recurrences_ = 0;
};

}  // namespace spanwise::cuda
