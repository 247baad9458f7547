// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/instruction_sets.hpp"

#include <cstdio>
#include <exception>

#include "spanwise/config.hpp"

namespace spanwise {
namespace {

// In the order of the setting's choices; each includes those before it.
enum Widest : unsigned { baseline, avx2, avx512, automatic };

[[maybe_unused]] const bool instruction_set_declared = config::declare({
    .name = "instruction_set",
    .description =
        "the widest instructions that loops on the CPU use, read once: auto is what the processor "
        "has; less shows what a program does on an older one",
    .default_value = "auto",
    .choices = {"baseline", "avx2", "avx512", "auto"},
});

[[maybe_unused]] unsigned widest_wanted() noexcept {
  try {
    return config::Choice("instruction_set").get();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spanwise: %s\n", error.what());
    return automatic;
  }
}

struct InstructionSets {
  bool avx2 = false, fma = false, avx512 = false;

  static const InstructionSets& here() noexcept {
    static const InstructionSets found;
    return found;
  }

 private:
#if defined(__x86_64__)
  InstructionSets() noexcept {
    const unsigned widest = widest_wanted();
    avx2 = widest >= Widest::avx2 && __builtin_cpu_supports("avx2");
    fma = avx2 && __builtin_cpu_supports("fma");
    avx512 = widest >= Widest::avx512 && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw");
  }
#else
  InstructionSets() = default;
#endif
};

}  // namespace

bool has_avx2() noexcept { return InstructionSets::here().avx2; }
bool has_avx2_and_fma() noexcept { return InstructionSets::here().fma; }
bool has_avx512() noexcept { return InstructionSets::here().avx512; }

}  // namespace spanwise
