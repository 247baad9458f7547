// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace spanwise::runtime {

/// A path for dlopen() of the file `name` in `folder` that no earlier call returned. For a path
/// that it has seen, the loader returns the library already loaded, even if the file has changed.
inline std::string new_loader_path(std::string folder, const std::string& name) {
  // The call's number: each bit is written as "/" or "/.", which does not change the file.
  static std::atomic<std::uint64_t> calls{0};
  for (std::uint64_t call = calls.fetch_add(1) + 1; call != 0; call >>= 1)
    folder += (call & 1) != 0 ? "/." : "/";
  return folder + "/" + name;
}

}  // namespace spanwise::runtime
