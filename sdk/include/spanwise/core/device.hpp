// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// DLPack's device numbers (DLPack 1.3, DLDeviceType) of the kinds of memory that Spanwise
/// supports.
enum class DeviceKind : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// A device: a kind and an ordinal. A plain value; constructing one neither checks that the device
/// exists nor calls a driver. There is one CPU: cpu:1 and higher are the same processor and memory
/// under other names, so that programs for several devices run anywhere.
class SW_API Device {
 public:
  constexpr Device() noexcept = default;
  constexpr explicit Device(DeviceKind kind, int ordinal = 0) noexcept
      : kind_(kind), ordinal_(ordinal) {}
  /// Parses "cpu", "cuda", "cuda:1" (and Theano's "cuda0" and "gpu0"). Throws ArgumentError.
  static Device parse(std::string_view name);

  constexpr DeviceKind kind() const noexcept { return kind_; }
  constexpr int ordinal() const noexcept { return ordinal_; }
  constexpr bool is_cpu() const noexcept { return kind_ == DeviceKind::cpu; }
  constexpr bool is_cuda() const noexcept { return kind_ == DeviceKind::cuda; }
  /// "cpu", "cpu:1" or "cuda:0".
  std::string name() const;

  friend constexpr bool operator==(Device, Device) noexcept = default;
  friend SW_API std::ostream& operator<<(std::ostream& out, Device device);

 private:
  DeviceKind kind_ = DeviceKind::cpu;
  std::int32_t ordinal_ = 0;
};

inline constexpr Device cpu{};

class Array;

/// The device of results computed from memory of `device`: the same, but the CPU for pinned and
/// managed memory.
constexpr Device working_device(Device device) noexcept {
  const bool is_host =
      device.kind() == DeviceKind::cuda_host || device.kind() == DeviceKind::cuda_managed;
  return is_host ? cpu : device;
}

/// Whether the CPU computes on memory of `device`. Work on other devices is queued on a stream.
constexpr bool runs_on_host(Device device) noexcept { return working_device(device).is_cpu(); }

/// Whether one operation can access memory of both.
constexpr bool work_together(Device a, Device b) noexcept {
  return a == b || (runs_on_host(a) && runs_on_host(b));
}

/// Waits for queued work that conflicts with a use of the array by the CPU, and records the use.
/// Does nothing if no stream uses the memory, as is the rule for memory of the CPU.
SW_API void order_host_use(const Array& array, bool writes);

}  // namespace spanwise
