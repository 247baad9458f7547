// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/cache_settings.hpp"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "core/string_utils.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

std::string absolute_or_empty(const std::string& path) { return path.starts_with('/') ? path : ""; }

std::string home_folder() {
  std::string home = absolute_or_empty(environment("HOME"));
  if (!home.empty()) return home;
  std::vector<char> buffer(16384);
  passwd entry, *result = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &result) != 0 ||
      result == nullptr)
    return "";
  return absolute_or_empty(result->pw_dir != nullptr ? result->pw_dir : "");
}

// XDG Base Directory Specification: relative paths are ignored.
std::string default_cache_dir() {
  const std::string cache = absolute_or_empty(environment("XDG_CACHE_HOME"));
  if (!cache.empty()) return cache + "/spanwise";
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.cache/spanwise";
}

constexpr std::int64_t mebibyte = 1 << 20;

// In MiB; nullopt where it is not a number, negative or too large for bytes.
std::optional<std::int64_t> parse_limit(std::string_view value) {
  const auto mebibytes = parse_number<std::int64_t>(value);
  return mebibytes >= 0 && mebibytes <= INT64_MAX / mebibyte ? mebibytes : std::nullopt;
}

void check_limit(std::string_view value) {
  if (!parse_limit(value).has_value())
    fail<ArgumentError>("config cache_limit_mb: expected a number of MiB >= 0, got '", value,
                        "'; 0 keeps nothing");
}

[[maybe_unused]] const bool dir_declared =
    config::declare({.name = "cache_dir",
                     .description = "Folder in which compiled kernels are kept between runs.",
                     .default_value = default_cache_dir()});

[[maybe_unused]] const bool limit_declared =
    config::declare({.name = "cache_limit_mb",
                     .description = "Size in MiB above which the least recently used compiled "
                                    "kernels are removed; 0 keeps none.",
                     .default_value = "1024",
                     .check = check_limit});

}  // namespace

std::string kernel_folder() {
  const std::string folder = config::get("cache_dir");
  if (folder.empty()) return "";
  return (std::filesystem::absolute(folder) / "kernels").lexically_normal().string();
}

std::int64_t cache_limit_bytes() {
  return parse_limit(config::get("cache_limit_mb")).value_or(0) * mebibyte;
}

}  // namespace spanwise::kernels
