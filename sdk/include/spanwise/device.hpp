// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "spanwise/export.hpp"

namespace spanwise {

/// DLPack's device numbers (DLPack 1.3, DLDeviceType) for the memories that Spanwise knows.
enum class DeviceKind : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// Where memory lives and work runs: a kind and an ordinal. A plain value; naming a device neither
/// checks that it exists nor touches a driver. There is one CPU, whatever its sockets; cpu:1 and on
/// are the same processor and memory under another name, so that programs for several devices run
/// anywhere.
class SW_API Device {
 public:
  constexpr Device() noexcept = default;
  constexpr explicit Device(DeviceKind kind, int ordinal = 0) noexcept
      : kind_(kind), ordinal_(ordinal) {}
  /// "cpu", "cuda", "cuda:1" ("cuda0" and "gpu0", as Theano wrote, too). Throws ArgumentError.
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

}  // namespace spanwise
