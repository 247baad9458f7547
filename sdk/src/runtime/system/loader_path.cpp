// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system/loader_path.hpp"

#include <atomic>
#include <cstdint>

namespace spanwise::runtime {

// Encodes the call's number in the path: each bit is written as "/" or "/.", which does not change
// the file it refers to.
std::string new_loader_path(std::string folder, const std::string& name) {
  static std::atomic<std::uint64_t> calls{0};
  for (std::uint64_t call = calls.fetch_add(1) + 1; call != 0; call >>= 1)
    folder += (call & 1) != 0 ? "/." : "/";
  return folder + "/" + name;
}

}  // namespace spanwise::runtime
