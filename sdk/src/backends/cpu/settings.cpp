// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "backends/cpu/processor.hpp"
#include "spanwise/config.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr int most_threads = 1024, most_stack_kb = 4096, most_slack = 16 << 20,
              most_output_kb = 1 << 20;

// -1 if it is not a number.
int parse(std::string_view value) {
  int number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() ? number : -1;
}

// OMP_NUM_THREADS is a list, whose first number is for parallel regions that are not nested (OpenMP
// API 5.2, 21.1.2). 0 if it is unset, -1 if it is not a number.
int open_mp_threads() {
  const char* given = std::getenv("OMP_NUM_THREADS");
  if (given == nullptr) return 0;
  std::string_view first = given;
  first = first.substr(0, first.find(','));
  while (first.starts_with(' ')) first.remove_prefix(1);
  while (first.ends_with(' ')) first.remove_suffix(1);
  return parse(first);
}

void check_threads(std::string_view value) {
  const int threads = parse(value);
  if (threads < 0 || threads > most_threads)
    fail<ArgumentError>("config cpu_threads: expected a number from 0 to ", most_threads, ", got '",
                        value, "'; 0 is OMP_NUM_THREADS, else one thread for each processor");
}

void check_stack(std::string_view value) {
  const int kilobytes = parse(value);
  if (kilobytes < 0 || kilobytes > most_stack_kb)
    fail<ArgumentError>("config cpu_stack_kb: expected a number from 0 to ", most_stack_kb,
                        ", got '", value, "'; 0 uses the need that the compiler reports");
}

void check_slack(std::string_view value) {
  const int bytes = parse(value);
  if (bytes < 0 || bytes > most_slack)
    fail<ArgumentError>("config cpu_slack: expected a number of bytes from 0 to ", most_slack,
                        ", got '", value, "'");
}

void check_timeout(std::string_view value) {
  if (parse(value) < 0)
    fail<ArgumentError>("config compile_timeout_s: expected a number of seconds >= 0, got '", value,
                        "'; 0 sets no limit");
}

void check_output(std::string_view value) {
  const int kilobytes = parse(value);
  if (kilobytes < 1 || kilobytes > most_output_kb)
    fail<ArgumentError>("config compile_output_kb: expected a number from 1 to ", most_output_kb,
                        ", got '", value, "'");
}

bool declare_all() {
  config::declare({.name = "cpu_threads",
                   .description = "threads that work on one CPU kernel or copy; 0 is what "
                                  "OMP_NUM_THREADS says, else one for each processor that the "
                                  "process may use",
                   .value = {},
                   .default_value = "0",
                   .choices = {},
                   .source = {},
                   .check = check_threads});
  config::declare({.name = "cpu_thread_order",
                   .description =
                       "order in which the CPU runs a block's threads and a grid's "
                       "blocks; a kernel that gives another result in reverse has a race",
                   .value = {},
                   .default_value = "forward",
                   .choices = {"forward", "reverse"},
                   .source = {}});
  config::declare({.name = "cpu_stack_kb",
                   .description = "least stack in KiB of a CPU kernel's thread that waits at "
                                  "barriers, for deep recursions",
                   .value = {},
                   .default_value = "0",
                   .choices = {},
                   .source = {},
                   .check = check_stack});
  config::declare({.name = "cpu_slack",
                   .description = "unused bytes behind each array's memory on the CPU, which a "
                                  "kernel that runs over the end may touch without harm; for "
                                  "memory that is taken from the system from then on",
                   .value = {},
                   .default_value = "2048",
                   .choices = {},
                   .source = {},
                   .check = check_slack});
  config::declare({.name = "compile_timeout_s",
                   .description = "seconds after which the CPU's compiler is killed with all that "
                                  "it started, and the compile is an error; 0 is no limit",
                   .value = {},
                   .default_value = "600",
                   .choices = {},
                   .source = {},
                   .check = check_timeout});
  config::declare({.name = "compile_output_kb",
                   .description = "KiB that are kept of what the CPU's compiler writes",
                   .value = {},
                   .default_value = "1024",
                   .choices = {},
                   .source = {},
                   .check = check_output});
  return config::declare({.name = "cpu_sanitize",
                          .description = "sanitizer that kernels are compiled with on the CPU; "
                                         "address needs its runtime preloaded",
                          .value = {},
                          .default_value = "none",
                          .choices = {"none", "undefined", "address"},
                          .source = {}});
}

[[maybe_unused]] const bool declared = declare_all();

}  // namespace

int worker_setting() {
  const int threads = parse(config::get("cpu_threads"));
  if (threads > 0) return threads;
  const int wanted = open_mp_threads();
  return std::clamp(wanted > 0 ? wanted : processor_count(), 1, most_threads);
}

ThreadOrder thread_order_setting() {
  return config::get("cpu_thread_order") == "reverse" ? ThreadOrder::reverse : ThreadOrder::forward;
}

std::size_t stack_setting() {
  return static_cast<std::size_t>(std::max(0, parse(config::get("cpu_stack_kb")))) << 10;
}

std::size_t slack_setting() {
  return static_cast<std::size_t>(std::max(0, parse(config::get("cpu_slack"))));
}

int compile_timeout_setting() { return std::max(0, parse(config::get("compile_timeout_s"))); }

std::size_t compile_output_setting() {
  return static_cast<std::size_t>(std::max(1, parse(config::get("compile_output_kb")))) << 10;
}

std::string sanitize_setting() {
  std::string value = config::get("cpu_sanitize");
  return value == "none" ? std::string{} : value;
}

}  // namespace spanwise::cpu_backend
