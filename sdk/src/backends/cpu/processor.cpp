// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <thread>

#include "core/string_utils.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

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

// The value of the line "key value"; 0 if there is none.
std::int64_t value_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (std::int64_t value = 0; file >> word >> value;)
    if (word == key) return value;
  return 0;
}

// The smallest limits of the groups whose files were read.
class ControlGroupReader {
 public:
  void read_memory(const fs::path& group, const char* limit_file, const char* usage_file,
                   const char* reclaimable) {
    const auto limit = number_in_file(group / limit_file);
    // Version 1 reports no limit as the largest multiple of the page size, nearly 2^63.
    constexpr std::int64_t unlimited = std::int64_t{1} << 60;
    if (!limit || *limit >= unlimited) return;
    const std::int64_t usage = number_in_file(group / usage_file).value_or(0);
    // The inactive page cache does not count as used: it is reclaimed first.
    const std::int64_t used = usage - value_of(group / "memory.stat", reclaimable);
    const std::int64_t available = std::clamp<std::int64_t>(*limit - used, 0, *limit);
    if (!limits.memory) limits.memory = {*limit, available};
    limits.memory->limit = std::min(limits.memory->limit, *limit);
    limits.memory->available = std::min(limits.memory->available, available);
  }

  // `quota` is processor time in each `period`; both in microseconds.
  void limit_processors(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
    constexpr int max_processors = 1 << 20;  // fits in an int
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const std::int64_t count = (*quota + *period - 1) / *period;
    limits.processors =
        static_cast<int>(std::min<std::int64_t>(limits.processors.value_or(max_processors), count));
  }

  // "quota period" or "max period".
  void read_cpu_max(const fs::path& path) {
    std::ifstream file(path);
    std::int64_t quota = 0, period = 0;
    if (file >> quota >> period) limit_processors(quota, period);
  }

  ControlGroupLimits limits;
};

// Calls read() for the folders of `group` and of its parents, up to the mount. In a container the
// path may be the host's; the container's own group is then at the root of the mount.
void for_each_group(const fs::path& mount, const std::string& group,
                    const std::function<void(const fs::path&)>& read) {
  std::error_code error;
  fs::path relative = fs::path(group).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") relative.clear();
  for (;; relative = relative.parent_path()) {
    const fs::path folder = mount / relative;
    if (fs::is_directory(folder, error)) read(folder);
    if (relative.empty()) return;
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
        reader.read_memory(folder, "memory.max", "memory.current", "inactive_file");
        reader.read_cpu_max(folder / "cpu.max");
      });
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "memory")
        for_each_group(fs::path(root) / "memory", group, [&](const fs::path& folder) {
          reader.read_memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                             "total_inactive_file");
        });
      if (name == "cpu")
        for_each_group(fs::path(root) / "cpu", group, [&](const fs::path& folder) {
          reader.limit_processors(number_in_file(folder / "cpu.cfs_quota_us"),
                                  number_in_file(folder / "cpu.cfs_period_us"));
        });
    }
  }
  return reader.limits;
}

namespace {

// The value of the first line of /proc/cpuinfo that begins with `key`. It is in the first record,
// which has fewer than 40 lines; reading further would make the system format the records of all
// processors.
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  for (int i = 0; i < 40 && std::getline(file, line); ++i) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && line.starts_with(key))
      return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

std::string read_features() {
  std::ostringstream out;
  out << std::hex << processor_architecture();
#if defined(__x86_64__)
  // Vendor; family, model and feature bits; extended features; AMD's features. The bits of leaf 1
  // that hold the number of the processor it ran on (ebx) are left out. Intel SDM volume 2A, CPUID.
  unsigned a = 0, b = 0, c = 0, d = 0;  // eax, ebx, ecx, edx
  if (__get_cpuid(0, &a, &b, &c, &d)) out << ' ' << b << '.' << c << '.' << d;
  if (__get_cpuid(1, &a, &b, &c, &d)) out << ' ' << a << '.' << c << '.' << d;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) out << ' ' << b << '.' << c << '.' << d;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) out << ' ' << a << '.' << d;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) out << ' ' << c << '.' << d;
#elif defined(__aarch64__)
  out << ' ' << getauxval(AT_HWCAP) << '.' << getauxval(AT_HWCAP2) << ' ' << cpuinfo("CPU part");
#else
  out << ' ' << cpuinfo("flags") << cpuinfo("Features");
#endif
  return out.str();
}

}  // namespace

std::string processor_architecture() {
  utsname system{};
  return ::uname(&system) == 0 ? system.machine : "unknown";
}

std::string processor_name() {
  const std::string name = cpuinfo("model name");
  return name.empty() ? processor_architecture() + " processor" : name;
}

const std::string& processor_features() {
  static const auto& features = *new std::string(read_features());
  return features;
}

int processor_count() {
  int count = static_cast<int>(std::thread::hardware_concurrency());
  // hardware_concurrency() may ignore taskset and cpusets; the affinity mask reflects them.
  constexpr int max_processors = 1 << 16;
  if (cpu_set_t* set = CPU_ALLOC(max_processors)) {
    const std::size_t bytes = CPU_ALLOC_SIZE(max_processors);
    CPU_ZERO_S(bytes, set);
    if (::sched_getaffinity(0, bytes, set) == 0) count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
  }
  return std::max(1, std::min(count, control_group_limits().processors.value_or(count)));
}

SystemMemory system_memory() {
  SystemMemory memory;
  struct ::sysinfo info{};
  if (::sysinfo(&info) == 0) {
    memory.total = static_cast<std::int64_t>(info.totalram) * info.mem_unit;
    memory.available = static_cast<std::int64_t>(info.freeram) * info.mem_unit;
  }
  // MemAvailable includes reclaimable caches, which sysinfo does not report.
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  std::int64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") {
      memory.available = kilobytes * 1024;
      break;
    }
  }
  if (const auto group = control_group_limits().memory) {
    memory.total = std::min(memory.total, group->limit);
    memory.available = std::min(memory.available, group->available);
  }
  return memory;
}

}  // namespace spanwise::cpu_backend
