// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/check/access_check.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

thread_local const void* probing_code = nullptr;

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

bool are_of_different_threads(const Stamp& a, const Stamp& b) {
  return a.block != b.block || a.thread != b.thread;
}

}  // namespace

const void* AccessCheck::probing() noexcept { return probing_code; }

void AccessCheck::add(CheckedRegion region) {
  const std::uintptr_t data = address_of(region.data), data_end = address_of(region.data_end);
  regions_.push_back({address_of(region.begin), address_of(region.end), data, data_end,
                      std::move(region.name), region.is_shared, ShadowMemory(data, data_end)});
}

void AccessCheck::ignore(const void* begin, const void* end) {
  const Range range{address_of(begin), address_of(end)};
  const bool is_known = std::ranges::any_of(ignored_, [&](const Range& known) {
    return known.begin == range.begin && known.end == range.end;
  });
  if (!is_known) ignored_.push_back(range);
}

void AccessCheck::forbid(const void* begin, const void* end) {
  forbidden_.push_back({address_of(begin), address_of(end)});
}

AccessCheck::Region* AccessCheck::region_of(const MemoryAccess& access) {
  const auto touches = [&](const Region& region) {
    return access.address + access.bytes > region.begin && access.address < region.end;
  };
  if (last_ != nullptr && touches(*last_)) return last_;
  const auto region = std::ranges::find_if(regions_, touches);
  if (region == regions_.end()) return nullptr;
  last_ = &*region;
  return last_;
}

bool AccessCheck::access(unsigned thread, std::uintptr_t address, std::size_t bytes, int kind,
                         const void* code) {
  if (!finish_pending_store()) return false;
  const MemoryAccess access{thread, address, bytes, kind, code};
  Region* region = region_of(access);
  if (region == nullptr) return check_outside(access);
  if (address < region->data || address + bytes > region->data_end)
    return fail_bounds(*region, access);
  if (!settings_.races || order_.is_exhausted()) return true;
  has_atomics_ |= kind == sw_access_atomic;
  if (access.is_strong())
    order_.synchronize(thread, address, kind != sw_access_volatile_write, access.writes());
  if (kind != sw_access_write && kind != sw_access_volatile_write && !check_read(*region, access))
    return false;
  if (access.writes()) begin_store(*region, access);
  return true;
}

// An access outside of all regions.
bool AccessCheck::check_outside(const MemoryAccess& access) {
  for (const Range& range : ignored_)
    if (access.address >= range.begin && access.address < range.end) return true;
  // Null with the offset of an element or member: the system maps no memory there.
  constexpr std::uintptr_t null_bytes = 64 << 10;
  if (access.address < null_bytes)
    return fail_outside(access, " through a null pointer (is an array argument None?)");
  for (const Range& range : forbidden_)
    if (access.address >= range.begin && access.address < range.end)
      return fail_outside(access, " outside of the block's __shared__ variables");
  if (settings_.strict)
    return fail_outside(access, " outside of all arrays" + nearest_region_text(access.address));
  if (access.writes()) {
    probing_code = access.code;
    undo_.save(access.address, access.bytes);
    probing_code = nullptr;
  }
  return true;
}

bool AccessCheck::check_read(Region& region, const MemoryAccess& access) {
  const Stamp now = order_.stamp(access.thread, Stamp::plain);
  const std::int32_t code = code_offset(access.code);
  bool is_ok = true;
  region.shadow.for_each(
      access.address, access.bytes, [&](ShadowCell& cell, std::size_t offset, std::size_t) {
        if (!is_ok) return;
        if (cell.writer.kind == Stamp::none) {
          if (region.is_shared && suspect_access_.text.empty())
            suspect({text(thread_name(block_, access.thread), " reads ", access.bytes,
                          " bytes at byte ", access.address + offset - region.data, " of ",
                          region.name, ", which no thread of the block had written"),
                     access.code, nullptr,
                     "write it first, and put __syncthreads() before the read"});
        } else if (cell.writer.kind != Stamp::unchanged &&
                   !order_.is_ordered(cell.writer, access.thread)) {
          if (cell.writer.kind == Stamp::plain && access.kind == sw_access_read)
            is_ok = fail_race(region, access, cell.writer, cell.write_code, true, offset);
          else if (access.kind != sw_access_atomic)
            suspect(race(region, access, cell.writer, cell.write_code, true, offset));
        }
        if (access.is_strong()) return;
        if (are_of_different_threads(cell.reader, now)) cell.other_reader = cell.reader;
        cell.reader = now;
        cell.read_code = code;
      });
  return is_ok;
}

void AccessCheck::begin_store(Region& region, const MemoryAccess& access) {
  store_.is_pending = true;
  store_.access = access;
  store_.stamp = order_.stamp(access.thread, access.is_strong() ? Stamp::strong : Stamp::plain);
  store_.region = &region;
  const auto* data = reinterpret_cast<const std::byte*>(access.address);
  store_.before.assign(data, data + access.bytes);
}

bool AccessCheck::finish_store() {
  store_.is_pending = false;
  const MemoryAccess& access = store_.access;
  const auto* now = reinterpret_cast<const std::byte*>(access.address);
  const std::int32_t code = code_offset(access.code);
  bool is_ok = true;
  store_.region->shadow.for_each(
      access.address, access.bytes, [&](ShadowCell& cell, std::size_t offset, std::size_t bytes) {
        if (!is_ok) return;
        const bool changed = std::memcmp(now + offset, store_.before.data() + offset, bytes) != 0;
        if (changed) {
          is_ok = check_change(cell, offset);
        } else if (cell.writer.kind != Stamp::none) {
          return;
        }
        cell.writer = store_.stamp;
        if (!changed) cell.writer.kind = Stamp::unchanged;
        cell.write_code = code;
      });
  return is_ok;
}

// Compares a store that changed `cell` with the earlier accesses to it.
bool AccessCheck::check_change(ShadowCell& cell, std::size_t offset) {
  const MemoryAccess& access = store_.access;
  const bool is_plain = access.kind == sw_access_write;
  const auto conflicts = [&](const Stamp& earlier) {
    return (earlier.kind == Stamp::plain || (earlier.kind == Stamp::strong && is_plain)) &&
           !order_.is_ordered(earlier, access.thread);
  };
  const auto report = [&](const Stamp& earlier, std::int32_t code, bool wrote, bool is_certain) {
    if (is_certain) return fail_race(*store_.region, access, earlier, code, wrote, offset);
    suspect(race(*store_.region, access, earlier, code, wrote, offset));
    return true;
  };
  if (conflicts(cell.writer) &&
      !report(cell.writer, cell.write_code, true, access.kind != sw_access_volatile_write))
    return false;
  for (const Stamp& reader : {cell.reader, cell.other_reader})
    if (conflicts(reader)) return report(reader, cell.read_code, false, is_plain);
  return true;
}

bool AccessCheck::start_block(std::uint64_t block, unsigned threads) {
  if (!finish_pending_store()) return false;
  block_ = block;
  if (block >= AccessOrder::max_blocks) settings_.races = false;
  order_.start_block(block, threads);
  for (Region& region : regions_) {
    if (!region.is_shared) continue;
    std::memset(reinterpret_cast<void*>(region.data), settings_.poison,
                region.data_end - region.data);
    region.shadow.clear();
  }
  return true;
}

void AccessCheck::suspect(Finding finding) {
  if (suspect_access_.text.empty()) suspect_access_ = std::move(finding);
}

}  // namespace spanwise::cpu_backend
