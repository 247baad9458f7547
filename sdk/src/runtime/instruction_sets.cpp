// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/instruction_sets.hpp"

#include <cstdio>
#include <exception>

#include "spanwise/runtime/config.hpp"

namespace spanwise {
namespace {

// In the order of the setting's choices; each includes those before it.
enum InstructionLimit : unsigned { baseline, avx2, avx512, automatic };

[[maybe_unused]] const bool instruction_set_declared = config::declare({
    .name = "instruction_set",
    .description =
        "the widest instructions that loops on the CPU use, read once: auto is all that the "
        "processor has; the others run a program as on an older processor",
    .default_value = "auto",
    .choices = {"baseline", "avx2", "avx512", "auto"},
});

[[maybe_unused]] unsigned configured_limit() noexcept {
  try {
    return config::Choice("instruction_set").get();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spanwise: %s\n", error.what());
    return automatic;
  }
}

struct InstructionSets {
  bool has_avx2 = false, has_fma = false, has_avx512 = false;
};

InstructionSets detect() noexcept {
  InstructionSets sets;
#if defined(__x86_64__)
  const unsigned limit = configured_limit();
  sets.has_avx2 = limit >= avx2 && __builtin_cpu_supports("avx2");
  sets.has_fma = sets.has_avx2 && __builtin_cpu_supports("fma");
  sets.has_avx512 = limit >= avx512 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw");
#endif
  return sets;
}

const InstructionSets& usable_sets() noexcept {
  static const InstructionSets sets = detect();
  return sets;
}

}  // namespace

bool has_avx2() noexcept { return usable_sets().has_avx2; }
bool has_avx2_and_fma() noexcept { return usable_sets().has_fma; }
bool has_avx512() noexcept { return usable_sets().has_avx512; }

}  // namespace spanwise
