// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/log.hpp"

#include <cstdio>

#include "core/string_utils.hpp"

namespace spanwise::kernels {

bool logging() noexcept {
  static const bool is_enabled = [] {
    const std::string names = environment("SPANWISE_LOG");
    return std::ranges::any_of(split(names, ','), [](std::string_view name) {
      return is_one_of(name, {"kernels", "all"});
    });
  }();
  return is_enabled;
}

void log_line(std::string_view text) noexcept {
  if (logging())
    std::fprintf(stderr, "spanwise kernels: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace spanwise::kernels
