// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/driver.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::cuda {

/// Constant properties of a device. Reading them needs the driver, but no context on the device.
struct DeviceInfo {
  CUdevice handle = 0;
  int major = 0, minor = 0;       ///< compute capability
  bool has_memory_pools = false;  ///< stream-ordered allocation
  DeviceProperties properties;    ///< free_memory is 0 here: it changes, and needs a context
};

/// Read once per process. Throws DeviceError, with the number of devices, if `ordinal` is out of
/// range.
const DeviceInfo& device_info(int ordinal);

}  // namespace spanwise::cuda
