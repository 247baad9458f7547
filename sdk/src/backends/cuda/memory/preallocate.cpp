// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory/preallocate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/string_utils.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

[[noreturn]] void fail_setting(std::string_view value) {
  fail<ArgumentError>(
      "config preallocate: expected 0, a fraction up to 1 (\"0.8\") or a size "
      "(\"8GiB\", \"512MiB\", a number of bytes), got \"",
      value, '"');
}

double unit_of(std::string_view suffix, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, double>, 7> units{{{"", 1},
                                                                      {"KiB", 0x1p10},
                                                                      {"MiB", 0x1p20},
                                                                      {"GiB", 0x1p30},
                                                                      {"KB", 1e3},
                                                                      {"MB", 1e6},
                                                                      {"GB", 1e9}}};
  for (const auto& [name, factor] : units) {
    if (suffix == name) return factor;
  }
  fail_setting(value);
}

void check_setting(std::string_view value) { preallocate_bytes(value, 0); }

[[maybe_unused]] const bool preallocate_declared = config::declare({
    .name = "preallocate",
    .description = "GPU memory to take at the first use of each device: 0, a fraction of what is "
                   "free (0.8), or a size (8GiB).",
    .default_value = "0",
    .check = check_setting,
});

}  // namespace

std::int64_t preallocate_bytes(std::string_view value, std::int64_t free) {
  if (value.empty()) return 0;
  std::string_view suffix = value;
  const double number = take_number<double>(suffix).value_or(-1);
  if (!(number >= 0) || number > 0x1p62) fail_setting(value);
  suffix = suffix.substr(std::min(suffix.find_first_not_of(' '), suffix.size()));
  const double factor = unit_of(suffix, value);
  const bool is_fraction = suffix.empty() && number <= 1;
  const double bytes = is_fraction ? number * static_cast<double>(free) : number * factor;
  if (bytes > 0x1p62) fail_setting(value);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace spanwise::cuda
