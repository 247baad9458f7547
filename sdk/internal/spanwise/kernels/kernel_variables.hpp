// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise {

/// The __constant__ and __device__ variables of a text from which several kernels are compiled, of
/// which each has its own. The values of those that get() has returned are kept here, copied to a
/// kernel before each launch and, unless they are constants, back after it. Thread-safe.
class SW_API KernelVariables {
 public:
  /// The bytes of variable `name` of `source` on `options.device`, always the same memory. Throws
  /// ArgumentError that begins with `owner` if `place`, such as "preamble=", does not declare it.
  Array get(const std::string& owner, const char* place, const std::string& source,
            const ModuleOptions& options, const std::string& name);
  /// Calls launch(), which launches `kernel` on the current stream, with the values.
  template <class F>
  void around(const Kernel& kernel, F&& launch) {
    const bool any = any_.load(std::memory_order_acquire);
    if (any) [[unlikely]]
      transfer(kernel, /*to_kernel=*/true);
    launch();
    if (any) [[unlikely]]
      transfer(kernel, /*to_kernel=*/false);
  }

 private:
  struct Variable {
    std::string name;
    bool is_constant;
    Array values;
  };
  void transfer(const Kernel& kernel, bool to_kernel);

  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::vector<Variable> variables_;
};

}  // namespace spanwise
