// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/exec/block_runner.hpp"

namespace spanwise::host {

/// A kernel and the parameters of its launch.
struct LaunchedKernel {
  const sw_kernel* kernel;
  const char* file;          ///< of the user's source, for messages
  std::size_t stack_bytes;   ///< per thread
  std::size_t shared_bytes;  ///< dynamic shared memory of a block
  bool reverse;
  std::uint64_t shuffle = 0;  ///< see BlockRunner::set_shuffle
  std::vector<sw_fence>* red_zones =
      nullptr;  ///< checked at each access; run() adds that of dynamic shared memory
};

/// The state that one thread of the pool keeps between launches.
class Worker {
 public:
  /// The calling thread's worker.
  static Worker& current();

  /// Runs blocks [range.first, range.last); sets worker and dynamic_shared. Throws DeviceError if a
  /// thread fails: assert, __trap, divergent barriers.
  void run(const LaunchedKernel& launched, sw_range range);
  /// The return address of the access at which the last run failed, and resets it; null if it did
  /// not fail at an access.
  static const void* take_faulting_code() noexcept;

 private:
  struct Free {
    std::size_t bytes;  // size of the allocation
    void operator()(void* data) const noexcept;
  };
  void* dynamic_shared(std::size_t bytes);
  void* fenced_shared(std::size_t bytes, std::vector<sw_fence>& red_zones);
  BlockRunner& blocks_for(std::size_t stack_bytes);

  // The module keeps its address, and reads it until the next launch sets another.
  sw_check check_{};
  BlockRunner blocks_;
  std::unique_ptr<BlockRunner> deep_blocks_;
  std::unique_ptr<void, Free> shared_{nullptr, Free{0}};
};

/// The functions that modules call; `worker` in each is a BlockRunner.
const sw_runtime& runtime_table();

}  // namespace spanwise::host
