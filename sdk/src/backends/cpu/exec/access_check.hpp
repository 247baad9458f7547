// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/cpu/exec/device_heap.hpp"
#include "backends/cpu/shim/spanwise/spanwise_abi.h"

namespace spanwise::cpu_backend {

/// The position of element `index`, x first, in a grid or block of these extents.
constexpr sw_extent position_of(std::uint64_t index, const sw_extent& extents) noexcept {
  return {static_cast<unsigned>(index % extents.x),
          static_cast<unsigned>(index / extents.x % extents.y),
          static_cast<unsigned>(index / extents.x / extents.y)};
}

/// "(x, y, z)", and "thread (1, 0, 0) of block (0, 0, 0)", for messages.
std::string extent_text(const sw_extent& extent);
std::string thread_text(const sw_extent& thread, const sw_extent& block);

/// Calls f(lane) for each set bit of `lanes`, a warp's mask.
template <class F>
void for_each_lane(unsigned lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The thread and the time of an access to memory; `none` for no access.
struct Stamp {
  enum Kind : std::uint64_t { none, plain, strong, unchanged };
  std::uint64_t time : 28 = 0;    ///< of AccessOrder
  std::uint64_t block : 24 = 0;   ///< linear index
  std::uint64_t thread : 10 = 0;  ///< linear index in the block
  /// `strong`: an atomic or volatile access. `unchanged`: a store of the value already in memory.
  std::uint64_t kind : 2 = none;
};

/// The order that barriers, warp collectives and fences create between the accesses of a launch's
/// threads (the happens-before relation). Blocks run one after the other.
///
/// Time is the number of such events so far. A __syncthreads() orders all earlier accesses of the
/// block; a warp collective orders those of its lanes and all that are ordered before them. A
/// thread releases at an address by a fence and a later atomic or volatile write there; an atomic
/// or volatile read of the address by another thread then orders everything that preceded the
/// fence. That is more than CUDA guarantees, so that correct protocols are never reported.
class AccessOrder {
 public:
  static constexpr std::uint64_t max_blocks = 1u << 24, max_time = (1u << 28) - 2;

  void start_block(std::uint64_t block, unsigned threads);
  void barrier();
  /// A collective of the lanes in the mask `lanes` of warp number `warp`.
  void collective(unsigned warp, unsigned lanes);
  void fence(unsigned thread) { fenced_[thread] = ++time_; }
  /// An atomic or volatile access to `address`.
  void synchronize(unsigned thread, std::uintptr_t address, bool reads, bool writes);

  Stamp stamp(unsigned thread, Stamp::Kind kind) const noexcept {
    return {time_, block_, thread, kind};
  }
  /// Whether the access `earlier` is ordered before one that `thread` makes now.
  bool is_ordered(const Stamp& earlier, unsigned thread) const noexcept {
    if (earlier.time < acquired_[thread]) return true;
    if (earlier.block != block_) return false;
    if (earlier.thread == thread || earlier.time < barrier_) return true;
    return earlier.thread / 32 == thread / 32 && earlier.time < lanes_[thread][earlier.thread % 32];
  }
  /// Whether the current time no longer fits in a stamp.
  bool is_exhausted() const noexcept { return time_ > max_time; }

 private:
  std::uint64_t time_ = 1, block_ = 0;
  std::uint64_t barrier_ = 0;  // time after the block's last barrier
  unsigned threads_ = 0;
  bool has_acquired_ = false;  // any element of acquired_ is not zero
  // For each thread: accesses before this time, by any thread, are ordered before it; and those of
  // each lane of its warp.
  std::array<std::uint64_t, 1024> acquired_{};
  std::array<std::array<std::uint64_t, 32>, 1024> lanes_{};
  std::array<std::uint64_t, 1024> fenced_{};                    // time of the thread's last fence
  std::unordered_map<std::uintptr_t, std::uint64_t> released_;  // address -> time of the fence
};

/// The last accesses to one or four bytes of memory.
struct ShadowCell {
  Stamp writer;
  Stamp reader, other_reader;                  ///< the last reads by two threads, the latest first
  std::int32_t write_code = 0, read_code = 0;  ///< instructions, see AccessCheck::code_offset
};

/// The accesses to one range of memory, in pages that are allocated when they are first used. A
/// cell stands for four bytes or, in pages with smaller or unaligned accesses, for one.
class ShadowMemory {
 public:
  ShadowMemory(std::uintptr_t begin, std::uintptr_t end);

  /// Calls f(cell, offset, cell_bytes) for each cell of the `bytes` bytes at `address`, where
  /// `offset` counts from `address`. Skips pages that would exceed the memory limit of a shadow.
  template <class F>
  void for_each(std::uintptr_t address, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes;) {
      const std::uintptr_t position = address + done - begin_;
      const std::size_t in_page = position % page_bytes;
      const std::size_t count =
          bytes - done < page_bytes - in_page ? bytes - done : page_bytes - in_page;
      if (ShadowPage* page = page_for(position / page_bytes, in_page % 4 != 0 || count % 4 != 0)) {
        const std::size_t size = page->cell_bytes;
        for (std::size_t i = 0; i < count; i += size)
          f(page->cells[(in_page + i) / size], done + i, size);
      }
      done += count;
    }
  }
  /// Forgets all accesses.
  void clear();

 private:
  static constexpr std::size_t page_bytes = 4096;
  struct ShadowPage {
    std::size_t cell_bytes = 4;
    std::vector<ShadowCell> cells{};
  };
  ShadowPage* page_for(std::size_t index, bool by_bytes);
  static void split(ShadowPage& page);

  std::uintptr_t begin_;
  std::vector<std::unique_ptr<ShadowPage>> pages_;
  std::size_t used_ = 0;  // pages allocated
};

/// The former contents of memory that a checked run writes although the run has no copy of it, such
/// as memory whose address the kernel gets as an integer. The destructor restores them.
class UndoLog {
 public:
  UndoLog() = default;
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;
  ~UndoLog() { restore(); }

  /// Call before `bytes` bytes at `address` are written. Only the first call for a byte saves it.
  void save(std::uintptr_t address, std::size_t bytes);
  void restore() noexcept;

 private:
  static constexpr std::size_t page_bytes = 1024;
  struct SavedPage {
    std::array<std::byte, page_bytes> contents;
    std::bitset<page_bytes> saved;
  };
  std::unordered_map<std::uintptr_t, SavedPage> pages_;
};

/// A fault of a checked kernel.
struct Finding {
  std::string text;
  /// The return address of the access's call, see sw_runtime, and that of the earlier access of a
  /// race; null if unknown.
  const void* code = nullptr;
  const void* other_code = nullptr;
  std::string remedy{};
};

/// Memory that a checked kernel may access, [data, data_end), within a red zone [begin, end) in
/// which accesses are out of bounds.
struct CheckedRegion {
  const void *begin, *end, *data, *data_end;
  std::string name;        ///< "the array of argument 1 ('int *x')"
  bool is_shared = false;  ///< shared memory, which is undefined at the start of a block
};

/// Checks the memory accesses of one checked run, which executes the launch's threads on one host
/// thread. Finds accesses outside of all regions, and races: accesses by two threads without an
/// order between them (AccessOrder), one of which changes the memory.
///
/// Two kinds of accesses are errors only if they influence the result: reads of shared memory that
/// no thread has written, and plain reads of memory that another thread changes by atomic or
/// volatile accesses. The first such access is suspect_access(); the caller reports it if runs with
/// another order of threads, or with other undefined values, have other results.
class AccessCheck {
 public:
  /// The launch's extents, and the checks.
  struct Settings {
    sw_extent grid{}, block{};
    bool races = false;
    bool strict = false;       ///< accesses outside of all regions are faults
    unsigned char poison = 0;  ///< the value of undefined bytes
  };
  explicit AccessCheck(const Settings& settings) : settings_(settings) {}

  void add(CheckedRegion region);
  /// Accesses in this range are not checked: stacks, the kernel's own image.
  void ignore(const void* begin, const void* end);
  /// Accesses in this range are faults, except where it is ignored or belongs to a region.
  void forbid(const void* begin, const void* end);
  unsigned char poison() const noexcept { return settings_.poison; }
  /// For what the run allocates and frees.
  DeviceHeap::Trial& heap() noexcept { return heap_; }

  // Events of the run; call each before the event happens. They return false for a fault, which is
  // then finding(). `kind` is a sw_access_kind, `lanes` a mask of the lanes of warp number `warp`.
  bool access(unsigned thread, std::uintptr_t address, std::size_t bytes, int kind,
              const void* code);
  bool start_block(std::uint64_t block, unsigned threads);
  bool barrier() {
    return record([&] { order_.barrier(); });
  }
  bool collective(unsigned warp, unsigned lanes) {
    return record([&] { order_.collective(warp, lanes); });
  }
  bool fence(unsigned thread) {
    return record([&] { order_.fence(thread); });
  }
  /// Checks the last store, if that is not done yet: whether it changes memory is known only after
  /// it.
  bool finish_pending_store() { return !store_.is_pending || finish_store(); }

  /// Makes `finding` the suspect_access(), unless there is one.
  void suspect(Finding finding);
  const Finding& finding() const noexcept { return finding_; }
  const Finding& suspect_access() const noexcept { return suspect_access_; }
  bool has_atomics() const noexcept { return has_atomics_; }
  /// "thread (1, 0, 0) of block (0, 0, 0)"
  std::string thread_name(std::uint64_t block, unsigned thread) const;

  /// While the calling thread reads memory that a kernel is about to write, and which may not
  /// exist: the kernel's instruction; else null.
  static const void* probing() noexcept;

 private:
  struct Region {
    std::uintptr_t begin, end, data, data_end;
    std::string name;
    bool is_shared;
    ShadowMemory shadow;
  };
  struct Range {
    std::uintptr_t begin, end;
  };
  struct MemoryAccess {
    unsigned thread = 0;
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    int kind = sw_access_read;
    const void* code = nullptr;
    bool writes() const noexcept {
      return kind != sw_access_read && kind != sw_access_volatile_read;
    }
    bool is_strong() const noexcept { return kind >= sw_access_atomic; }
  };
  struct PendingStore {
    bool is_pending = false;
    MemoryAccess access{};
    Stamp stamp{};
    Region* region = nullptr;
    std::vector<std::byte> before{};  // the bytes that it overwrites
  };

  template <class F>
  bool record(F&& event) {
    if (!finish_pending_store()) return false;
    event();
    return true;
  }
  Region* region_of(const MemoryAccess& access);
  bool check_outside(const MemoryAccess& access);
  bool fail_misaligned(const MemoryAccess& access);
  bool fail_outside(const MemoryAccess& access, std::string_view location);
  bool check_read(Region& region, const MemoryAccess& access);
  void begin_store(Region& region, const MemoryAccess& access);
  bool finish_store();
  bool check_change(ShadowCell& cell, std::size_t offset);
  bool fail_bounds(const Region& region, const MemoryAccess& access);
  bool fail_race(const Region& region, const MemoryAccess& access, const Stamp& earlier,
                 std::int32_t earlier_code, bool earlier_wrote, std::size_t offset);
  Finding race(const Region& region, const MemoryAccess& access, const Stamp& earlier,
               std::int32_t earlier_code, bool earlier_wrote, std::size_t offset) const;
  std::string access_text(const MemoryAccess& access) const;
  std::string nearest_region_text(std::uintptr_t address) const;

  // Instructions as 32-bit offsets from the first one that accessed memory; 0 is none.
  std::int32_t code_offset(const void* code);
  const void* code_at(std::int32_t code) const;

  Settings settings_;
  std::deque<Region> regions_;
  Region* last_ = nullptr;  // the region of the last access, searched first
  std::vector<Range> ignored_, forbidden_;
  AccessOrder order_;
  PendingStore store_;
  DeviceHeap::Trial heap_;  // freed after undo_ has restored its memory
  UndoLog undo_;
  std::uint64_t block_ = 0;
  const char* code_base_ = nullptr;
  bool has_atomics_ = false;
  Finding finding_, suspect_access_;
};

}  // namespace spanwise::cpu_backend
