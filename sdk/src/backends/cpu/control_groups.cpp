// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/control_groups.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace spanwise::cpu_backend {
namespace {

namespace fs = std::filesystem;

// The number at the start of a file; nothing for other contents, such as "max" (no limit).
std::optional<std::int64_t> number_in_file(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (!(file >> number)) return {};
  return number;
}

// The value of a line "key value".
std::int64_t value_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (std::int64_t value = 0; file >> word >> value;)
    if (word == key) return value;
  return 0;
}

class ControlGroupReader {
 public:
  // Version 1 reports no limit as the largest multiple of the page size.
  static constexpr std::int64_t unlimited = std::int64_t{1} << 60;

  void memory(const fs::path& group, const char* limit_file, const char* usage_file,
              const char* reclaimable) {
    const auto limit = number_in_file(group / limit_file);
    if (!limit || *limit >= unlimited) return;
    const std::int64_t usage = number_in_file(group / usage_file).value_or(0);
    // Inactive page cache does not count as used: it is reclaimed first.
    const std::int64_t used = usage - value_of(group / "memory.stat", reclaimable);
    const std::int64_t available = std::clamp<std::int64_t>(*limit - used, 0, *limit);
    if (limits.memory && limits.memory->available <= available)
      limits.memory->limit = std::min(limits.memory->limit, *limit);
    else
      limits.memory = {limits.memory ? std::min(limits.memory->limit, *limit) : *limit, available};
  }

  void processors(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const std::int64_t count = std::min<std::int64_t>((*quota + *period - 1) / *period, 1 << 20);
    limits.processors = std::min(limits.processors.value_or(1 << 20), static_cast<int>(count));
  }

  // "quota period" or "max period".
  void cpu_max(const fs::path& path) {
    std::ifstream file(path);
    std::int64_t quota = 0, period = 0;
    if (file >> quota >> period) processors(quota, period);
  }

  ControlGroupLimits limits;
};

// Calls read() for the folders of `group` and of its parents, up to the mount. In a container the
// path may be the host's; the container's own group is then at the root of the mount.
void for_each_group(const fs::path& mount, const std::string& group,
                    const std::function<void(const fs::path&)>& read) {
  std::error_code error;
  fs::path inside = fs::path(group).relative_path().lexically_normal();
  if (!inside.empty() && *inside.begin() == "..") inside.clear();
  for (;; inside = inside.parent_path()) {
    const fs::path folder = mount / inside;
    if (fs::is_directory(folder, error)) read(folder);
    if (inside.empty()) return;
  }
}

}  // namespace

ControlGroupLimits control_group_limits(const std::string& membership, const std::string& root) {
  ControlGroupReader reader;
  std::ifstream file(membership);
  // "4:memory:/group" of version 1, with names of controllers; "0::/group" of version 2.
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      for_each_group(root, group, [&](const fs::path& folder) {
        reader.memory(folder, "memory.max", "memory.current", "inactive_file");
        reader.cpu_max(folder / "cpu.max");
      });
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "memory")
        for_each_group(fs::path(root) / "memory", group, [&](const fs::path& folder) {
          reader.memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file");
        });
      if (name == "cpu")
        for_each_group(fs::path(root) / "cpu", group, [&](const fs::path& folder) {
          reader.processors(number_in_file(folder / "cpu.cfs_quota_us"),
                            number_in_file(folder / "cpu.cfs_period_us"));
        });
    }
  }
  return reader.limits;
}

}  // namespace spanwise::cpu_backend
