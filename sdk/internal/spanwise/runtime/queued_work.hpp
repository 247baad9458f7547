// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"

/// For code that queues work which reports errors, or which may be recorded and repeated.
namespace spanwise::runtime {

// Errors that queued work finds: a kernel writes them to memory of the host, and the next wait of
// the host for the device throws them.

/// From now on each wait of the host calls `check` with the device that it has waited for. Each
/// function is added once.
SW_API void add_wait_check(void (*check)(Device));
/// Host memory that kernels of `device`, which is no CPU, can write. Never freed. Throws
/// OutOfMemoryError.
SW_API void* allocate_mapped(Device device, std::size_t bytes);

/// Whether the calling thread records the work that it queues, to repeat it (RecordedCall). Work
/// must then not use memory that was allocated before and is released by a later call, such as
/// buffers that are kept from call to call.
SW_API bool is_recording() noexcept;

class RecordingScope {
 public:
  SW_API RecordingScope() noexcept;
  SW_API ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
};

}  // namespace spanwise::runtime
