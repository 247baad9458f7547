// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "backends/cpu/exec/block_runner.hpp"

namespace spanwise::host {

/// What a launch needs to know of its kernel.
struct LaunchedKernel {
  const sw_kernel* kernel;
  const char* file;          ///< of the user's source, for messages
  std::size_t stack_bytes;   ///< a thread's need
  std::size_t shared_bytes;  ///< dynamic shared memory of a block
  bool reverse;
};

/// A processor's worth of CUDA: what one thread of the pool keeps between launches.
class Worker {
 public:
  /// The calling thread's.
  static Worker& current();

  /// Runs blocks [range.first, range.last); fills in worker and dynamic_shared. Throws DeviceError
  /// where a thread failed: assert, __trap, barriers that diverge.
  void run(const LaunchedKernel& launched, sw_range range);

 private:
  struct Free {
    void operator()(void* data) const noexcept;
  };
  void* dynamic_shared(std::size_t bytes);
  BlockRunner& blocks_for(std::size_t stack_bytes);

  BlockRunner blocks_;
  std::unique_ptr<BlockRunner> deep_blocks_;
  std::unique_ptr<void, Free> shared_;
  std::size_t shared_bytes_ = 0;
};

/// What modules call; `worker` in each is a BlockRunner.
const sw_runtime& runtime_table();

}  // namespace spanwise::host
