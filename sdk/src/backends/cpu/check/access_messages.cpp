// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The messages of AccessCheck.
#include <cstdint>
#include <limits>

#include "backends/cpu/check/access_check.hpp"
#include "backends/cpu/exec/launch_plan.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {

std::string AccessCheck::thread_name(std::uint64_t block, unsigned thread) const {
  return thread_text(position_of(thread, settings_.block), position_of(block, settings_.grid));
}

std::string AccessCheck::access_text(const MemoryAccess& access) const {
  const char* verb = !access.writes()                  ? "reads "
                     : access.kind == sw_access_atomic ? "updates "
                                                       : "writes ";
  return text(verb, access.bytes, " bytes");
}

bool AccessCheck::fail_bounds(const Region& region, const MemoryAccess& access) {
  const std::string position =
      access.address < region.data
          ? text(region.data - access.address, " bytes before its first byte")
          : text(access.address - region.data, " bytes behind its first byte, and it has ",
                 region.data_end - region.data);
  finding_ = {
      text(access_text(access), " outside of ", region.name, ", ", position, ", in ",
           thread_name(block_, access.thread)),
      access.code, nullptr,
      "compare the index with the extent before the access; check that the array is as large as "
      "the kernel assumes"};
  return false;
}

bool AccessCheck::fail_outside(const MemoryAccess& access, std::string_view location) {
  finding_ = {text(access_text(access), location, ", in ", thread_name(block_, access.thread)),
              access.code, nullptr, "compare the index with the extent before the access"};
  return false;
}

// ", 4096 bytes behind the first byte of the array of argument 1, which has 256": the array that is
// nearest to the address, "" if all are so far that the address is arbitrary.
std::string AccessCheck::nearest_region_text(std::uintptr_t address) const {
  std::string nearest;
  std::uintptr_t min_distance = std::numeric_limits<std::uintptr_t>::max();
  constexpr std::uintptr_t max_distance = std::uintptr_t{1} << 46;
  for (const Region& region : regions_) {
    if (region.is_shared) continue;
    const bool is_behind = address >= region.data;
    const std::uintptr_t distance = is_behind ? address - region.data : region.data - address;
    if (distance >= min_distance || distance > max_distance) continue;
    min_distance = distance;
    nearest =
        text(", ", distance, is_behind ? " bytes behind" : " bytes before", " the first byte of ",
             region.name, ", which has ", region.data_end - region.data);
  }
  return nearest;
}

Finding AccessCheck::race(const Region& region, const MemoryAccess& access, const Stamp& earlier,
                          std::int32_t earlier_code, bool earlier_wrote, std::size_t offset) const {
  const bool same_block = earlier.block == block_;
  return {text("race: ", thread_name(block_, access.thread), ' ', access_text(access), " at byte ",
               access.address + offset - region.data, " of ", region.name, ", which ",
               thread_name(earlier.block, static_cast<unsigned>(earlier.thread)),
               earlier_wrote ? " wrote" : " read",
               same_block ? " without a barrier between them" : " in the same launch"),
          access.code, code_at(earlier_code),
          same_block ? "put __syncthreads() between the two, or use atomics where several threads "
                       "change one element"
                     : "blocks have no order: use atomics, or one launch for each of the two"};
}

bool AccessCheck::fail_race(const Region& region, const MemoryAccess& access, const Stamp& earlier,
                            std::int32_t earlier_code, bool earlier_wrote, std::size_t offset) {
  finding_ = race(region, access, earlier, earlier_code, earlier_wrote, offset);
  return false;
}

std::int32_t AccessCheck::code_offset(const void* code) {
  const auto* instruction = static_cast<const char*>(code);
  if (code_base_ == nullptr) code_base_ = instruction - 1;  // so that no offset is 0
  return static_cast<std::int32_t>(instruction - code_base_);
}

const void* AccessCheck::code_at(std::int32_t code) const {
  return code == 0 ? nullptr : code_base_ + code;
}

}  // namespace spanwise::cpu_backend
