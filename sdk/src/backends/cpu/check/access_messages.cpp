// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The messages of AccessCheck.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/cpu/check/access_check.hpp"
#include "backends/cpu/exec/launch_plan.hpp"
#include "spanwise/core/text.hpp"

namespace spanwise::cpu_backend {
namespace {

const char* verb(int kind) {
  switch (kind) {
    case sw_access_read:
    case sw_access_volatile_read:
      return "reads ";
    case sw_access_atomic:
      return "updates ";
    default:
      return "writes ";
  }
}

}  // namespace

std::string AccessCheck::thread_name(std::uint64_t block, unsigned thread) const {
  return thread_text(position_of(thread, settings_.block), position_of(block, settings_.grid));
}

std::string AccessCheck::describe(const MemoryAccess& access) const {
  return text(verb(access.kind), access.bytes, " bytes");
}

bool AccessCheck::fail_bounds(const Region& region, const MemoryAccess& access) {
  const std::string where =
      access.address < region.data
          ? text(region.data - access.address, " bytes before its first byte")
          : text(access.address - region.data, " bytes behind its first byte, and it has ",
                 region.data_end - region.data);
  finding_ = {text(describe(access), " outside of ", region.name, ", ", where, ", in ",
                   thread_name(block_, access.thread)),
              access.code, nullptr,
              "compare the index with the extent before the access; is the array as large as the "
              "kernel thinks?"};
  return false;
}

bool AccessCheck::fail_outside(const MemoryAccess& access, const char* what) {
  finding_ = {text(describe(access), what, nearest(access.address), ", in ",
                   thread_name(block_, access.thread)),
              access.code, nullptr, "compare the index with the extent before the access"};
  return false;
}

// ", 4096 bytes behind the first byte of the array of argument 1, which has 256": the array from
// which the address is least far.
std::string AccessCheck::nearest(std::uintptr_t address) const {
  const bool is_forbidden = std::ranges::any_of(forbidden_, [&](const Range& range) {
    return address >= range.begin && address < range.end;
  });
  std::string found;
  std::uintptr_t min_distance = std::numeric_limits<std::uintptr_t>::max();
  constexpr std::uintptr_t max_distance = std::uintptr_t{1} << 46;
  for (const Region& region : regions_) {
    if (region.is_shared) continue;
    const bool is_behind = address >= region.data;
    const std::uintptr_t distance = is_behind ? address - region.data : region.data - address;
    if (distance >= min_distance || distance > max_distance) continue;
    min_distance = distance;
    found = text(", ", distance, is_behind ? " bytes behind" : " bytes before",
                 " the first byte of ", region.name, ", which has ", region.data_end - region.data);
  }
  return address < (64 << 10) || is_forbidden ? "" : found;
}

Finding AccessCheck::race(const Region& region, const MemoryAccess& access, const Stamp& other,
                          std::int32_t other_code, bool other_wrote, std::size_t offset) const {
  const bool same_block = other.block == block_;
  return {text("race: ", thread_name(block_, access.thread), ' ', describe(access), " at byte ",
               access.address + offset - region.data, " of ", region.name, ", which ",
               thread_name(other.block, static_cast<unsigned>(other.thread)),
               other_wrote ? " wrote" : " read",
               same_block ? " without a barrier between them" : " in the same launch"),
          access.code, unpacked(other_code),
          same_block ? "put __syncthreads() between the two, or use atomics where several threads "
                       "change one element"
                     : "blocks have no order: use atomics, or one launch for each of the two"};
}

bool AccessCheck::fail_race(const Region& region, const MemoryAccess& access, const Stamp& other,
                            std::int32_t other_code, bool other_wrote, std::size_t offset) {
  finding_ = race(region, access, other, other_code, other_wrote, offset);
  return false;
}

std::int32_t AccessCheck::packed(const void* code) {
  const auto* at = static_cast<const char*>(code);
  if (code_base_ == nullptr) code_base_ = at - 1;  // so that no code is 0
  return static_cast<std::int32_t>(at - code_base_);
}

const void* AccessCheck::unpacked(std::int32_t code) const {
  return code == 0 ? nullptr : code_base_ + code;
}

}  // namespace spanwise::cpu_backend
