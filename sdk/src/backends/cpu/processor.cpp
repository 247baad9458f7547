// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/processor.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "backends/cpu/control_groups.hpp"
#include "core/string_utils.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace spanwise::cpu_backend {
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
