// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/log.hpp"

#include <cstdio>
#include <cstdlib>

namespace spanwise::kernels {
namespace {

bool asked_for() noexcept {
  const char* value = std::getenv("SPANWISE_LOG");
  std::string_view words = value == nullptr ? "" : value;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    if (word == "kernels" || word == "all") return true;
    words.remove_prefix(word.size() == words.size() ? word.size() : word.size() + 1);
  }
  return false;
}

}  // namespace

bool logging() noexcept {
  static const bool on = asked_for();
  return on;
}

void log_line(std::string_view text) noexcept {
  if (logging())
    std::fprintf(stderr, "spanwise kernels: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace spanwise::kernels
