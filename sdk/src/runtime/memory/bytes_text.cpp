// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/bytes_text.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

#include "spanwise/error.hpp"

namespace spanwise::runtime {

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  char digits[32];
  std::snprintf(digits, sizeof digits, unit == 0 ? "%.0f" : "%.2f", value);
  return text(digits, ' ', units[unit]);
}

}  // namespace spanwise::runtime
