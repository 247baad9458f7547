// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "spanwise/array.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"

namespace spanwise::ops {

/// Compiled modules by device and by the key that determines their source.
template <class Key>
class Modules {
 public:
  template <class MakeSource>
  SourceModule get(Device device, const Key& key, MakeSource&& make_source) {
    return modules_.get({{device.kind(), device.ordinal()}, key}, [&] {
      ModuleOptions options;
      options.device = device;
      return SourceModule(make_source(), options);
    });
  }

 private:
  KernelTable<std::map<std::pair<std::pair<DeviceKind, int>, Key>, SourceModule>> modules_;
};

/// An array's address as an argument; the kernels of this folder receive strides separately.
inline KernelArg address_of(const void* data) noexcept {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace spanwise::ops
