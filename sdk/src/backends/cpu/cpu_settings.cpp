// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backends/cpu/processor.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr int max_cpu_threads = 1024, max_stack_kb = 4096, max_slack = 16 << 20,
              max_output_kb = 1 << 20;

// -1 if `value` is not a number that fits.
int number_of(std::string_view value) { return parse_number(value).value_or(-1); }

// OMP_NUM_THREADS is a list, whose first number is for parallel regions that are not nested (OpenMP
// API 5.2, 21.1.2). 0 if the variable is unset, -1 if that is not a number.
int open_mp_threads() {
  const char* variable = std::getenv("OMP_NUM_THREADS");
  if (variable == nullptr) return 0;
  const std::string_view list = variable;
  return number_of(trimmed(list.substr(0, list.find(','))));
}

// Throws unless `value` is a whole number from `min_value` to `max_value`.
void check_number(const char* setting, std::string_view value, int min_value, int max_value,
                  const char* unit = "", const char* remedy = "") {
  const int number = number_of(value);
  if (number < min_value || number > max_value)
    fail<ArgumentError>("config ", setting, ": expected a number", unit, " from ", min_value,
                        " to ", max_value, ", got '", value, "'", remedy);
}

// The value of a declared number, which config::get() has checked.
std::size_t number_setting(const char* setting) {
  return static_cast<std::size_t>(number_of(config::get(setting)));
}

bool declare_all() {
  config::declare({.name = "cpu_threads",
                   .description = "threads that work on one CPU kernel or copy; 0 uses "
                                  "OMP_NUM_THREADS, else one for each processor that the "
                                  "process may use",
                   .default_value = "0",
                   .check = [](std::string_view value) {
                     check_number("cpu_threads", value, 0, max_cpu_threads, "",
                                  "; 0 uses OMP_NUM_THREADS, else one thread for each processor");
                   }});
  config::declare({.name = "cpu_thread_order",
                   .description =
                       "order in which the CPU runs a block's threads and a grid's "
                       "blocks; a kernel that gives another result in reverse has a race",
                   .default_value = "forward",
                   .choices = {"forward", "reverse"}});
  config::declare({.name = "cpu_warps",
                   .description = "step: the lanes of a warp execute each store together in all "
                                  "kernels that the CPU compiles; auto: in those whose source "
                                  "seems to rely on it",
                   .default_value = "auto",
                   .choices = {"auto", "step"}});
  config::declare({.name = "cpu_barriers",
                   .description = "fibers: the threads of CPU kernels with barriers run as fibers; "
                                  "auto: as loops between the barriers where the source shows "
                                  "that all threads reach each barrier",
                   .default_value = "auto",
                   .choices = {"auto", "fibers"}});
  config::declare({.name = "cpu_stack_kb",
                   .description = "minimum stack in KiB of a CPU kernel's thread that waits at "
                                  "barriers, for deep recursions",
                   .default_value = "0",
                   .check = [](std::string_view value) {
                     check_number("cpu_stack_kb", value, 0, max_stack_kb, "",
                                  "; 0 uses the need that the compiler reports");
                   }});
  config::declare({.name = "cpu_slack",
                   .description = "unused bytes after each array's memory on the CPU, which a "
                                  "kernel that runs over the end may touch without harm; a "
                                  "change applies to memory allocated afterwards",
                   .default_value = "2048",
                   .check = [](std::string_view value) {
                     check_number("cpu_slack", value, 0, max_slack, " of bytes");
                   }});
  config::declare({.name = "compile_timeout_s",
                   .description = "seconds after which the CPU's compiler is killed with all that "
                                  "it started, and the compile is an error; 0 is no limit",
                   .default_value = "600",
                   .check = [](std::string_view value) {
                     if (number_of(value) < 0)
                       fail<ArgumentError>(
                           "config compile_timeout_s: expected a number of seconds >= 0, got '",
                           value, "'; 0 sets no limit");
                   }});
  config::declare({.name = "compile_output_kb",
                   .description = "limit in KiB of the output of the CPU's compiler that is kept",
                   .default_value = "1024",
                   .check = [](std::string_view value) {
                     check_number("compile_output_kb", value, 1, max_output_kb);
                   }});
  config::declare({.name = "cpu_coverage",
                   .description = "folder where the CPU counts how often the lines of kernels run, "
                                  "for python -m pytest --cov; compiles them with g++ and without "
                                  "optimization",
                   .default_value = ""});
  return config::declare({.name = "cpu_sanitize",
                          .description = "sanitizer that kernels are compiled with on the CPU; "
                                         "address needs its runtime preloaded",
                          .default_value = "none",
                          .choices = {"none", "undefined", "address"}});
}

[[maybe_unused]] const bool settings_declared = declare_all();

}  // namespace

int worker_setting() {
  const int threads = number_of(config::get("cpu_threads"));
  if (threads > 0) return threads;
  const int open_mp = open_mp_threads();
  return std::clamp(open_mp > 0 ? open_mp : processor_count(), 1, max_cpu_threads);
}

bool reverse_order_setting() { return config::get("cpu_thread_order") == "reverse"; }

bool warps_in_step_setting() { return config::get("cpu_warps") == "step"; }

bool fibers_setting() { return config::get("cpu_barriers") == "fibers"; }

std::string coverage_setting() { return config::get("cpu_coverage"); }

std::size_t stack_setting() { return number_setting("cpu_stack_kb") << 10; }

std::size_t slack_setting() { return number_setting("cpu_slack"); }

int compile_timeout_setting() { return number_of(config::get("compile_timeout_s")); }

std::size_t compile_output_setting() { return number_setting("compile_output_kb") << 10; }

std::string sanitize_setting() {
  std::string value = config::get("cpu_sanitize");
  return value == "none" ? std::string{} : value;
}

}  // namespace spanwise::cpu_backend
