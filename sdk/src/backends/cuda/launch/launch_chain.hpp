// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/driver.hpp"
#include "runtime/backend.hpp"
#include "spanwise/runtime/kernel_types.hpp"

/// Launches as CUDA graphs: chains of kernels, of one kernel (KernelGraphCache) and of a sequence
/// that is repeated (CudaLaunchBatch).
namespace spanwise::cuda {

/// A T for each of the few streams in use. Destroyed streams are not reported, so an entry that has
/// not been used for calls_until_idle calls of find() is given to another stream, with its value
/// unchanged.
template <class T>
class PerStream {
 public:
  /// The value of `stream`, created by make() if there is none; null if too many other streams are
  /// in use. Valid until the next call.
  template <class Make>
  T* find(CUstream stream, Make&& make) {
    ++calls_;
    for (StreamEntry& entry : entries_) {
      if (entry.stream != stream) continue;
      entry.used_at = calls_;
      return &entry.value;
    }
    return add(stream, make);
  }

 private:
  static constexpr std::size_t max_streams = 4;
  static constexpr std::uint64_t calls_until_idle = 64;
  struct StreamEntry {
    CUstream stream = nullptr;
    std::uint64_t used_at = 0;  // calls_ at the last find()
    T value;
  };

  template <class Make>
  T* add(CUstream stream, Make& make) {
    if (entries_.size() < max_streams) {
      entries_.push_back({stream, calls_, make()});
      return &entries_.back().value;
    }
    const auto oldest = std::ranges::min_element(entries_, {}, &StreamEntry::used_at);
    if (calls_ - oldest->used_at < calls_until_idle) return nullptr;
    oldest->stream = stream;
    oldest->used_at = calls_;
    return &oldest->value;
  }

  std::uint64_t calls_ = 0;  // of find()
  std::vector<StreamEntry> entries_;
};

/// Grid, block and dynamic shared memory of a launch, in the driver's types.
struct LaunchShape {
  struct LaunchDims {
    unsigned x, y, z;
    bool operator==(const LaunchDims&) const = default;
  };
  LaunchDims grid{}, block{};
  unsigned shared_bytes = 0;

  LaunchShape() = default;
  /// The values must be within LaunchLimits, so that they fit.
  LaunchShape(const Dim3& blocks, const Dim3& threads, std::int64_t bytes) noexcept
      : grid(extents(blocks)), block(extents(threads)), shared_bytes(narrow(bytes)) {}
  bool operator==(const LaunchShape&) const = default;

  /// Stores the values in one of the driver's structures, whose members have the same names.
  template <class Parameters>
  void put_into(Parameters& parameters) const noexcept {
    parameters.gridDimX = grid.x;
    parameters.gridDimY = grid.y;
    parameters.gridDimZ = grid.z;
    parameters.blockDimX = block.x;
    parameters.blockDimY = block.y;
    parameters.blockDimZ = block.z;
    parameters.sharedMemBytes = shared_bytes;
  }
  static LaunchDims extents(const Dim3& dim) noexcept {
    return {narrow(dim.x), narrow(dim.y), narrow(dim.z)};
  }

 private:
  static unsigned narrow(std::int64_t n) noexcept { return static_cast<unsigned>(n); }
};

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

/// CUDA graphs of one kernel, each with a single node: one LaunchChain for each stream that
/// launches it.
class KernelGraphCache {
 public:
  explicit KernelGraphCache(const DeviceContext& context) : context_(context) {}

  /// Launches the kernel as a graph and returns the driver's result, or nothing if the caller has
  /// to launch it directly: for the first launches of a kernel, on streams beyond PerStream's
  /// limit, on the per-thread default stream and captured streams, while another thread launches
  /// the kernel, and for a kernel that the driver rejects as a graph. `arguments` as for
  /// LoadedKernel::launch. The context must be current.
  std::optional<CUresult> launch(CudaKernel& kernel, const LaunchShape& shape, CUstream stream,
                                 void* const* arguments) noexcept;

 private:
  using Chain = std::unique_ptr<LaunchChain>;

  const DeviceContext& context_;
  SpinLock mutex_;
  PerStream<Chain> chains_;
};

/// A sequence of launches that is repeated. Launches are held until the thread queues other work on
/// the device; the launches of each such segment become a CUDA graph (LaunchChain), so that ten
/// kernels cost the host little more than one.
class CudaLaunchBatch final : public runtime::LaunchBatch {
 public:
  explicit CudaLaunchBatch(const DeviceContext& context) : context_(context) {}

  /// Returns false while another batch of the thread is open, in a forked child, with config
  /// "launch_blocking", if LaunchTuner::joins_kernels() is false, on the per-thread default stream,
  /// on streams beyond PerStream's limit, and after a few batches without successive launches.
  bool open(runtime::StreamState& stream) override;
  void close() override;

  /// The calling thread's open batch if it is on `stream`, else null.
  static CudaLaunchBatch* open_on(const CudaStream& stream) noexcept;
  /// Holds the launch. Its extents must be within the kernel's limits.
  void add(CudaKernel& kernel, const LaunchShape& shape, void* const* arguments);
  /// Queues the launches that are held. close() throws the error, if any.
  void flush() noexcept;

 private:
  // One chain for each segment, in order.
  using Chains = std::vector<std::unique_ptr<LaunchChain>>;
  LaunchChain& segment();
  void record_error(CUresult code, const LaunchChain& chain, std::size_t first,
                    std::size_t last) noexcept;

  const DeviceContext& context_;
  PerStream<Chains> chains_by_stream_;
  int small_batches_ = 0;  // in a row, each without a segment of several launches
  // Valid while the batch is open:
  Ref<CudaStream> stream_;
  Chains* chains_ = nullptr;
  std::size_t segment_ = 0;
  bool has_graph_segment_ = false;  // a segment had more than one launch
  CUresult error_ = CUDA_SUCCESS;
  std::string failed_kernels_;
};

}  // namespace spanwise::cuda
