// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/launch_shape.hpp"

namespace spanwise::cuda {

class CudaKernel;

/// Kernels that are launched one after the other again and again, as a CUDA graph: a chain of
/// nodes. A round is: add() each kernel, launch(), next_round(). Once the same kernels have come a
/// few times, a graph is made of them; later rounds put the arguments that have changed into its
/// nodes and launch it.
///
/// The host then pays for one launch instead of one a kernel, and even that one costs it less: with
/// an H200 in a virtual machine 1.4 us, where cuLaunchKernel takes 3.0. The driver runs the
/// launches of one graph one after the other, on whichever streams they are, so each stream wants
/// chains of its own. (CUDA driver API, "Graph Management".) One thread at a time; the device's
/// context is current.
class LaunchChain {
 public:
  enum class Kernels { held, outlive };
  /// A graph is made when the same kernels have come `rounds_before` times. `kernels`: whether the
  /// chain holds references to its kernels, or they outlive it.
  LaunchChain(const DeviceContext& context, Kernels kernels, int rounds_before);
  /// What is queued still runs. Any context may be current, and the driver gone.
  ~LaunchChain();
  LaunchChain(const LaunchChain&) = delete;
  LaunchChain& operator=(const LaunchChain&) = delete;

  /// The next kernel of this round. `arguments` as for LoadedKernel::launch; they are copied.
  void add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments);
  /// How many there are in this round.
  std::size_t size() const noexcept { return count_; }
  /// Launches this round's kernels as a graph: the driver's answer, or nothing where there is none
  /// (yet), or the driver does not take these kernels as one. They are then not launched.
  std::optional<CUresult> launch(CUstream stream) noexcept;
  /// One of this round's kernels, to be launched by itself.
  struct Launch {
    CudaKernel& kernel;
    const LaunchShape& shape;
    void* const* arguments;
  };
  Launch at(std::size_t i) const noexcept;
  void next_round() noexcept;

 private:
  struct Link;
  bool make() noexcept;
  bool bring_up_to_date() noexcept;
  void drop_graph() noexcept;

  const DeviceContext& context_;
  const DriverApi& api_;
  const Kernels kernels_;
  const int rounds_before_;
  std::vector<std::unique_ptr<Link>> links_;
  std::size_t count_ = 0;    // of links_, that this round has come to
  int rounds_ = 0;           // with the same kernels as now
  int graphs_left_;          // for kernels that keep changing
  CUgraph graph_ = nullptr;  // nodes are known by their place there
  CUgraphExec exec_ = nullptr;
};

}  // namespace spanwise::cuda
