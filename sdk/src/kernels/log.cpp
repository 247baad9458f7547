// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/log.hpp"

#include <cstdio>
#include <cstdlib>

namespace spanwise::kernels {
namespace {

bool is_enabled_by_environment() noexcept {
  const char* value = std::getenv("SPANWISE_LOG");
  std::string_view names = value == nullptr ? "" : value;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    if (name == "kernels" || name == "all") return true;
    names.remove_prefix(name.size() == names.size() ? name.size() : name.size() + 1);
  }
  return false;
}

}  // namespace

bool logging() noexcept {
  static const bool on = is_enabled_by_environment();
  return on;
}

void log_line(std::string_view text) noexcept {
  if (logging())
    std::fprintf(stderr, "spanwise kernels: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace spanwise::kernels
