// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "spanwise/core/export.hpp"

namespace spanwise::runtime {

/// Whether a tool that reads NVTX ranges, such as Nsight Systems, has started this process.
extern SW_API bool profiler_attached;

/// While it lives, the timeline of the attached tool shows a range of this name for the calling
/// thread. Costs a test of a variable where no tool is attached.
class ProfilerRange {
 public:
  explicit ProfilerRange(const std::string& name) {
    if (profiler_attached) [[unlikely]]
      is_open_ = push(name.c_str());
  }
  ~ProfilerRange() {
    if (is_open_) [[unlikely]]
      pop();
  }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  SW_API static bool push(const char* name) noexcept;
  SW_API static void pop() noexcept;

  bool is_open_ = false;
};

}  // namespace spanwise::runtime
