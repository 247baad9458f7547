// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_check.hpp"

#include <cstdint>
#include <cstring>

#include "spanwise/runtime/config.hpp"

namespace spanwise::runtime {
namespace {

[[maybe_unused]] const bool check_declared = config::declare(
    {.name = "kernel_check",
     .description =
         "run each kernel on guarded copies of its arrays: bounds finds accesses outside "
         "of them, order results that depend on the order of threads",
     .default_value = "none",
     .choices = {"none", "bounds", "order", "all"}});

constinit const config::Choice check{"kernel_check"};

}  // namespace

KernelCheck kernel_check() {
  const unsigned choice = check.get();  // of the choices above: bit 0 is bounds, bit 1 is order
  return {(choice & 1u) != 0, (choice & 2u) != 0};
}

bool may_hold_address(const void* data, std::size_t bytes) noexcept {
  const auto* next = static_cast<const char*>(data);
  for (std::uint64_t word = 0; bytes >= sizeof word; bytes -= sizeof word, next += sizeof word) {
    std::memcpy(&word, next, sizeof word);
    if (word >> 40 != 0 && word >> 48 == 0) return true;
  }
  return false;
}

}  // namespace spanwise::runtime
