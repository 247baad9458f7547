// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "spanwise/array.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops {

/// The modules made so far, by device and what decides their source: finding one again costs less
/// than writing its text. Lives as long as the process, since a GPU may be gone before the end.
template <class Key>
class Modules {
 public:
  template <class MakeSource>
  SourceModule get(Device device, const Key& key, MakeSource&& make_source) {
    const std::lock_guard lock(mutex_);
    const std::pair place(std::pair(device.kind(), device.ordinal()), key);
    if (const auto found = modules_.find(place); found != modules_.end()) return found->second;
    ModuleOptions options;
    options.device = device;
    return modules_.emplace(place, SourceModule(make_source(), options)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::pair<DeviceKind, int>, Key>, SourceModule> modules_;
};

/// An array as an address: the kernels of this folder know the strides themselves.
inline KernelArg address_of(const void* data) noexcept {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace spanwise::ops
