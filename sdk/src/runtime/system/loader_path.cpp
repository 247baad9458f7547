// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/system/loader_path.hpp"

#include <atomic>
#include <cstdint>

namespace spanwise::runtime {

// Each bit of the number of the call is a slash or a slash and a dot; neither changes where the
// path leads.
std::string new_loader_path(std::string folder, const std::string& name) {
  static std::atomic<std::uint64_t> calls{0};
  for (std::uint64_t call = calls.fetch_add(1) + 1; call != 0; call >>= 1)
    folder += (call & 1) != 0 ? "/." : "/";
  return folder + "/" + name;
}

}  // namespace spanwise::runtime
