// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/exec/block_runner.hpp"

namespace spanwise::host {

/// What a launch needs to know of its kernel.
struct LaunchedKernel {
  const sw_kernel* kernel;
  const char* file;          ///< of the user's source, for messages
  std::size_t stack_bytes;   ///< a thread's need
  std::size_t shared_bytes;  ///< dynamic shared memory of a block
  bool reverse;
  std::uint64_t shuffle = 0;  ///< another order of threads, see BlockRunner
  std::vector<sw_fence>* red_zones =
      nullptr;  ///< to be looked at; dynamic shared memory joins them
};

/// A processor's worth of CUDA: what one thread of the pool keeps between launches.
class Worker {
 public:
  /// The calling thread's.
  static Worker& current();

  /// Runs blocks [range.first, range.last); fills in worker and dynamic_shared. Throws DeviceError
  /// where a thread failed: assert, __trap, barriers that diverge.
  void run(const LaunchedKernel& launched, sw_range range);
  /// Behind which instruction the access was that the last run failed at; null where it was none.
  static const void* take_faulting_code() noexcept;

 private:
  struct Free {
    std::size_t bytes;  // that it points to
    void operator()(void* data) const noexcept;
  };
  void* dynamic_shared(std::size_t bytes);
  void* fenced_shared(std::size_t bytes, std::vector<sw_fence>& red_zones);
  BlockRunner& blocks_for(std::size_t stack_bytes);

  // The module remembers where it is, and reads it until the next launch says otherwise.
  sw_check check_{};
  BlockRunner blocks_;
  std::unique_ptr<BlockRunner> deep_blocks_;
  std::unique_ptr<void, Free> shared_{nullptr, Free{0}};
};

/// What modules call; `worker` in each is a BlockRunner.
const sw_runtime& runtime_table();

}  // namespace spanwise::host
