// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "backends/cpu/check/access_order.hpp"
#include "backends/cpu/check/shadow_memory.hpp"
#include "backends/cpu/check/undo_log.hpp"
#include "backends/cpu/shim/spanwise/spanwise_abi.h"

namespace spanwise::cpu_backend {

/// A fault of a checked kernel, and the instructions behind the accesses, null if unknown.
struct Finding {
  std::string text;
  const void* code = nullptr;
  const void* other_code = nullptr;
  std::string remedy{};
};

/// Memory that a checked kernel may access, within a range around it in which it may not.
struct CheckedRegion {
  const void *begin, *end, *data, *data_end;
  std::string name;        ///< "the array of argument 1 ('int *x')"
  bool is_shared = false;  ///< belongs to a block: undefined at its start
};

/// Checks the memory accesses of one checked run, which executes the launch's threads on one host
/// thread: accesses outside of all regions, and races, which are accesses by two threads without an
/// order between them (AccessOrder), one of which changes the memory.
///
/// Two kinds of accesses are errors only if they influence the result: reads of shared memory that
/// no thread has written, and plain reads of what another thread changes by atomic or volatile
/// accesses. The first of them is suspect_access(); the caller reports it if runs in other orders
/// of threads, or with other undefined values, have other results.
class AccessCheck {
 public:
  /// The launch's extents, and what is checked.
  struct Settings {
    sw_extent grid{}, block{};
    bool races = false;
    bool strict = false;       ///< no address comes from anywhere but the regions
    unsigned char poison = 0;  ///< the value of undefined bytes
  };
  explicit AccessCheck(const Settings& settings) : settings_(settings) {}

  void add(CheckedRegion region);
  /// Accesses in this range are not checked: stacks, the kernel's own image.
  void ignore(const void* begin, const void* end);
  /// Accesses in this range are faults, except where it is ignored or belongs to a region.
  void forbid(const void* begin, const void* end);
  std::uint64_t block() const noexcept { return block_; }
  unsigned char poison() const noexcept { return settings_.poison; }

  // Events of the run, each before the event itself. They return false if finding() was made.
  bool access(unsigned thread, std::uintptr_t address, std::size_t bytes, int kind,
              const void* code);
  bool start_block(std::uint64_t block, unsigned threads);
  bool barrier();
  bool collective(unsigned warp, unsigned lanes);
  bool fence(unsigned thread);
  /// Checks the last store, whose effect is known only afterwards.
  bool settle() { return !store_.is_pending || finish_store(); }

  void suspect(Finding finding);
  const Finding& finding() const noexcept { return finding_; }
  const Finding& suspect_access() const noexcept { return suspect_access_; }
  bool has_atomics() const noexcept { return has_atomics_; }
  /// "thread (1, 0, 0) of block (0, 0, 0)"
  std::string thread_name(std::uint64_t block, unsigned thread) const;

  /// The instruction on whose behalf the calling thread probes an address that may not exist; null
  /// outside of probes.
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

  Region* region_of(const MemoryAccess& access);
  bool outside(const MemoryAccess& access);
  bool fail_outside(const MemoryAccess& access, const char* what);
  bool read(Region& region, const MemoryAccess& access);
  void begin_store(Region& region, const MemoryAccess& access);
  bool finish_store();
  bool check_change(ShadowCell& cell, std::size_t offset);
  bool fail_bounds(const Region& region, const MemoryAccess& access);
  bool fail_race(const Region& region, const MemoryAccess& access, const Stamp& other,
                 std::int32_t other_code, bool other_wrote, std::size_t offset);
  Finding race(const Region& region, const MemoryAccess& access, const Stamp& other,
               std::int32_t other_code, bool other_wrote, std::size_t offset) const;
  std::string describe(const MemoryAccess& access) const;
  std::string nearest(std::uintptr_t address) const;

  // Instructions as 32-bit distances from the first one.
  std::int32_t packed(const void* code);
  const void* unpacked(std::int32_t code) const;

  Settings settings_;
  std::deque<Region> regions_;
  Region* last_ = nullptr;
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
