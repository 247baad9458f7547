// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/exec/fault_trap.hpp"

namespace spanwise::cpu_backend {

/// A kernel and the parameters of its launch.
struct LaunchedKernel {
  const sw_kernel* kernel;
  const char* file;               ///< of the user's source, for messages
  std::size_t stack_bytes;        ///< per thread
  std::size_t shared_bytes;       ///< dynamic shared memory of a block
  bool reverse;                   ///< as `shuffle_seed`, see BlockRunner::set_thread_order
  FaultTrap::CodeRange code{};    ///< of the module
  FaultTrap* launcher = nullptr;  ///< of the thread that waits for the launch
  std::uint64_t shuffle_seed = 0;
  AccessCheck* check = nullptr;   ///< checks each access
  bool may_hide_returns = false;  ///< see BlockRunner::set_check
  std::size_t shared_zone = 0;    ///< bytes of the red zones around dynamic shared memory
};

/// The state that one thread of the pool keeps between launches.
class Worker {
 public:
  /// The calling thread's worker.
  static Worker& current();

  /// Runs blocks [range.first, range.last), with its own values of sw_range::worker, dynamic_shared
  /// and checked. Throws KernelFaultError if a thread fails: assert, __trap, divergent barriers, a
  /// signal.
  void run(const LaunchedKernel& launched, sw_range range);
  /// The instruction at which a signal ended the calling thread's last run; null if unknown.
  static const void* take_faulting_code() noexcept;
  /// A block's dynamic shared memory, at least `bytes` long; the same until more bytes are
  /// requested.
  void* dynamic_shared(std::size_t bytes);

 private:
  struct Free {
    std::size_t bytes;  // size of the allocation
    void operator()(void* data) const noexcept;
  };
  [[noreturn]] void fail_signal(const LaunchedKernel& launched, const sw_range& range,
                                BlockRunner& runner, const KernelFault& fault);
  BlockRunner& runner_for(std::size_t stack_bytes);

  BlockRunner runner_;
  std::unique_ptr<BlockRunner> large_stack_runner_;
  std::unique_ptr<void, Free> shared_{nullptr, Free{0}};
};

/// The functions that modules call; `worker` in each is a BlockRunner.
const sw_runtime& runtime_table();

}  // namespace spanwise::cpu_backend
