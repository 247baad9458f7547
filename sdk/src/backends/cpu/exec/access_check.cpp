// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/access_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
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

std::string extent_text(const sw_extent& extent) {
  return text('(', extent.x, ", ", extent.y, ", ", extent.z, ')');
}

std::string thread_text(const sw_extent& thread, const sw_extent& block) {
  return text("thread ", extent_text(thread), " of block ", extent_text(block));
}

void AccessOrder::start_block(std::uint64_t block, unsigned threads) {
  block_ = block;
  threads_ = threads;
  barrier_ = 0;
  has_acquired_ = false;
  ++time_;
  for (unsigned t = 0; t < threads; ++t) {
    acquired_[t] = 0;
    fenced_[t] = 0;
    lanes_[t].fill(0);
  }
}

void AccessOrder::barrier() {
  barrier_ = ++time_;
  if (!has_acquired_) return;
  const auto end = acquired_.begin() + threads_;
  std::fill(acquired_.begin(), end, *std::max_element(acquired_.begin(), end));
}

void AccessOrder::collective(unsigned warp, unsigned lanes) {
  ++time_;
  const unsigned first = warp * 32;
  std::array<std::uint64_t, 32> known{};
  std::uint64_t acquired = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    acquired = std::max(acquired, acquired_[first + lane]);
    for (unsigned earlier = 0; earlier < 32; ++earlier)
      known[earlier] = std::max(known[earlier], lanes_[first + lane][earlier]);
  });
  for_each_lane(lanes, [&](unsigned lane) { known[lane] = time_; });
  for_each_lane(lanes, [&](unsigned lane) {
    acquired_[first + lane] = acquired;
    lanes_[first + lane] = known;
  });
}

void AccessOrder::synchronize(unsigned thread, std::uintptr_t address, bool reads, bool writes) {
  if (reads && !released_.empty()) {
    const auto release = released_.find(address);
    if (release != released_.end() && release->second > acquired_[thread]) {
      acquired_[thread] = release->second;
      has_acquired_ = true;
    }
  }
  if (!writes || fenced_[thread] == 0) return;
  std::uint64_t& released = released_[address];
  released = std::max(released, fenced_[thread]);
}

// Cells of four bytes are at addresses that are multiples of four.
ShadowMemory::ShadowMemory(std::uintptr_t begin, std::uintptr_t end)
    : begin_(begin & ~std::uintptr_t{3}), pages_((end - begin_) / page_bytes + 1) {}

ShadowMemory::ShadowPage* ShadowMemory::page_for(std::size_t index, bool by_bytes) {
  std::unique_ptr<ShadowPage>& page = pages_[index];
  if (!page) {
    constexpr std::size_t max_pages = 32 << 10;  // about 1 GiB with cells of four bytes
    if (used_ >= max_pages) return nullptr;
    ++used_;
    page = std::make_unique<ShadowPage>();
    page->cells.resize(page_bytes / page->cell_bytes);
  }
  if (by_bytes && page->cell_bytes != 1) split(*page);
  return page.get();
}

void ShadowMemory::split(ShadowPage& page) {
  std::vector<ShadowCell> cells(page_bytes);
  for (std::size_t i = 0; i < page_bytes; ++i) cells[i] = page.cells[i / page.cell_bytes];
  page.cells = std::move(cells);
  page.cell_bytes = 1;
}

void ShadowMemory::clear() {
  if (used_ == 0) return;
  for (const std::unique_ptr<ShadowPage>& page : pages_)
    if (page) std::ranges::fill(page->cells, ShadowCell{});
}

// Byte by byte: only bytes that the kernel writes may be touched, because other threads of the
// program may use their neighbours.
void UndoLog::save(std::uintptr_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uintptr_t target = address + i;
    SavedPage& page = pages_[target / page_bytes];
    if (page.saved.test(target % page_bytes)) continue;
    page.contents[target % page_bytes] = *reinterpret_cast<const std::byte*>(target);
    page.saved.set(target % page_bytes);
  }
}

void UndoLog::restore() noexcept {
  for (const auto& [number, page] : pages_)
    for (std::size_t i = 0; i < page_bytes; ++i)
      if (page.saved.test(i))
        *reinterpret_cast<std::byte*>(number * page_bytes + i) = page.contents[i];
  pages_.clear();
}

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
  // The compiler checks the alignment of all other accesses (-fsanitize=alignment).
  if (kind == sw_access_atomic && address % bytes != 0) return fail_misaligned(access);
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

bool AccessCheck::fail_misaligned(const MemoryAccess& access) {
  finding_ = {text(access_text(access), " at an address that is not a multiple of ", access.bytes,
                   ", in ", thread_name(block_, access.thread)),
              access.code, nullptr, "align the address to the type of the access"};
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
