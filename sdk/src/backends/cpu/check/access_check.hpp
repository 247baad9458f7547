// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/check/access_order.hpp"
#include "backends/cpu/check/shadow_memory.hpp"
#include "backends/cpu/check/undo_log.hpp"
#include "backends/cpu/shim/spanwise/spanwise_abi.h"

namespace spanwise::cpu_backend {

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
  UndoLog undo_;
  std::uint64_t block_ = 0;
  const char* code_base_ = nullptr;
  bool has_atomics_ = false;
  Finding finding_, suspect_access_;
};

}  // namespace spanwise::cpu_backend
