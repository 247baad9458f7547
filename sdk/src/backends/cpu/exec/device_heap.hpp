// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>

namespace spanwise::cpu_backend {

/// The memory of malloc(), free(), new and delete in kernels, apart from the C library's heap: a
/// kernel that writes outside of its blocks changes the contents of other blocks only, and each
/// address that is freed is checked. Thread-safe.
class DeviceHeap {
 public:
  /// At least `bytes` bytes, aligned to 16; null if there is no memory, as in CUDA.
  static void* allocate(std::size_t bytes) noexcept;
  /// Frees a block; false, without an effect, for any other address.
  static bool release(void* address) noexcept;

  /// What one checked run allocates and frees, which takes no effect after the run.
  class Trial {
   public:
    Trial() = default;
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial();
    void* allocate(std::size_t bytes);
    bool release(void* address);

   private:
    std::set<void*> allocated_, released_;  // `released_`: of earlier launches
  };
};

}  // namespace spanwise::cpu_backend
