// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"

namespace spanwise {

/// What a device is and how much it takes.
struct DeviceProperties {
  std::string name;          ///< "NVIDIA H200", or the processor's name
  std::string architecture;  ///< "sm_90", "x86_64"
  std::string driver;        ///< the driver's version, "" on the CPU
  std::int64_t total_memory = 0;
  std::int64_t free_memory = 0;
  int multiprocessors = 0;  ///< on the CPU: worker threads
  int warp_size = 32;
  int max_threads_per_block = 1024;
  std::array<std::int64_t, 3> max_block{1024, 1024, 64};
  std::array<std::int64_t, 3> max_grid{2147483647, 65535, 65535};
  std::int64_t max_shared_bytes = 49152;        ///< per block without asking
  std::int64_t max_shared_bytes_optin = 49152;  ///< per block at most
};

/// All devices of this machine, the CPU last. Loads the CUDA driver; never throws for its absence.
SW_API std::vector<Device> devices();
/// Why there is no CUDA device, in one sentence; "" where there is one.
SW_API std::string why_no_cuda();
/// Throws DeviceError for a device that is not there, saying what was looked for.
SW_API DeviceProperties properties(Device device);
/// Where arrays are made when nothing else is said: the innermost DeviceGuard's of this thread,
/// else config "device", else the first GPU, else the CPU.
SW_API Device default_device();
/// The device that a named context stands for (config "contexts": "dev0->cuda:0;dev1->cuda:1"), or
/// nothing for another word.
SW_API std::optional<Device> find_context(std::string_view name);
/// As Device::parse, for names of contexts too. Throws ArgumentError listing these.
SW_API Device named_device(std::string_view name);
/// Where `address` lives, as the drivers know it (cuda, cuda_host or cuda_managed with its
/// ordinal); nothing for an address that no driver handed out. Loads the CUDA driver; never throws
/// for its absence.
SW_API std::optional<Device> device_of(const void* address);
/// Blocks until all work on the device is done.
SW_API void synchronize(Device device);

/// Makes `device` the calling thread's default until the guard goes. Throws DeviceError if absent.
class SW_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::optional<Device> previous_;
};

}  // namespace spanwise
