// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernels {

/// Copies of a launch's arrays, each between two red zones filled with a known pattern. Arguments
/// with overlapping addresses share one copy, even if their Storages differ (two imports of one
/// foreign array). All work is queued on the current stream; the host waits for it.
class GuardedArrays {
 public:
  GuardedArrays(const KernelState& function, std::span<const KernelArg> arguments);

  std::span<const KernelArg> arguments() const noexcept { return arguments_; }
  std::span<const runtime::RedZone> red_zones() const noexcept { return red_zones_; }
  /// Copies the arrays into the copies and writes the pattern to the zones.
  void copy_in() const;
  /// Describes writes outside of the copies, as the end of a sentence; "" where there were none.
  std::string damage() const;
  /// The current bytes of the copies.
  std::vector<std::string> snapshot() const;
  /// Describes the first difference between two snapshots beyond what another order of rounding
  /// explains, as the end of a sentence; "" where there is none.
  std::string difference(const std::vector<std::string>& before,
                         const std::vector<std::string>& after) const;
  /// Writes `bytes`, a snapshot(), to the arrays that the kernel may write.
  void copy_out(const std::vector<std::string>& bytes) const;

 private:
  // The byte range of one argument's array.
  struct ArgumentRange {
    Storage storage;
    std::uintptr_t begin, end;  // addresses
    bool writes;
  };
  // The address range of overlapping arguments.
  struct GuardedRange {
    std::uintptr_t begin, end;
    std::size_t argument = 0;  // index of the first of them
    std::vector<ArgumentRange> parts{};
    Array block{};          // uint8, on the device: zone, bytes, zone
    std::int64_t zone = 0;  // bytes before the copy
    std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(end - begin); }
  };
  void add(const KernelState& function, std::size_t index, const Array& array);
  static void allocate(GuardedRange& range, Device device);
  Array view_of_copy(const Array& array) const;
  const GuardedRange& range_of(const Array& array) const;
  static Array original(const ArgumentRange& part);
  static Array copy_of(const GuardedRange& range, const ArgumentRange& part);
  std::string name_of(std::size_t argument) const;

  const KernelState& function_;
  std::vector<GuardedRange> ranges_;
  std::deque<Array> arrays_;  // arguments point to its elements
  std::vector<KernelArg> arguments_;
  std::vector<runtime::RedZone> red_zones_;
};

}  // namespace spanwise::kernels
