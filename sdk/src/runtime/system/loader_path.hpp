// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace spanwise::runtime {

/// A path of the file `name` in `folder`, for dlopen(), that no earlier call returned: for a path
/// that was loaded before, dlopen() returns the loaded library, even if the file has changed.
inline std::string new_loader_path(std::string folder, const std::string& name) {
  // The call's number: each bit is written as "/" or "/.", which does not change the file.
  static std::atomic<std::uint64_t> calls{0};
  for (std::uint64_t call = calls.fetch_add(1) + 1; call != 0; call >>= 1)
    folder += (call & 1) != 0 ? "/." : "/";
  return folder + "/" + name;
}

}  // namespace spanwise::runtime
