// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"

namespace spanwise {

/// Properties and limits of a device; sizes in bytes.
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
  std::int64_t max_shared_bytes = 49152;        ///< per block by default
  std::int64_t max_shared_bytes_optin = 49152;  ///< per block with opt-in
};

/// All devices of this machine, the CPU last. Loads the CUDA driver; a missing driver is not an
/// error.
SW_API std::vector<Device> devices();
/// Why there is no CUDA device, one sentence; "" if there is one.
SW_API std::string why_no_cuda();
/// Throws DeviceError for a device that does not exist, with the reason. Asks the driver for the
/// free memory of a GPU at each call.
SW_API DeviceProperties properties(Device device);
/// The properties of a GPU that do not change, without a call of the driver from the second call
/// on; free_memory is 0. Valid until the process ends. Throws as properties().
SW_API const DeviceProperties& fixed_properties(Device device);
/// The device of new arrays where none is given: the innermost DeviceGuard's of this thread, else
/// config "device", else the first GPU, else the CPU.
SW_API Device default_device();
/// The device of a named context (config "contexts": "dev0->cuda:0;dev1->cuda:1"); nullopt for a
/// name that is not among them.
SW_API std::optional<Device> find_context(std::string_view name);
/// As Device::parse, but also accepts context names. Throws ArgumentError listing these.
SW_API Device named_device(std::string_view name);
/// The device of the memory at `address` as the CUDA driver reports it (cuda, cuda_host or
/// cuda_managed, with ordinal); nullopt for memory that is not known to the driver. Loads the CUDA
/// driver; a missing driver is not an error.
SW_API std::optional<Device> device_of(const void* address);
/// Blocks until all work on the device is done. Throws DeviceError.
SW_API void synchronize(Device device);

/// Makes `device` the calling thread's default device for the lifetime of the guard. Throws
/// DeviceError for a device that does not exist.
class SW_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::optional<Device> previous_;
};

/// A CUDA context. Spanwise uses each GPU's primary context, as everything built on the CUDA
/// runtime does. A program may have created another (pycuda.autoinit does), whose memory must not
/// be used in the primary context.
struct GpuContext {
  Device device{};  ///< for memory: with its kind, such as cuda_managed
  bool primary = false;
};

/// The calling thread's current context; nullopt where there is none or no GPU. Loads the CUDA
/// driver; a missing driver is not an error.
SW_API std::optional<GpuContext> current_gpu_context();
/// The context in which the memory at `address` was allocated; nullopt where the driver reports
/// none: not GPU memory, or memory of a pool, which all contexts may access.
SW_API std::optional<GpuContext> gpu_context_of(const void* address);

/// Makes the primary context of `device`, a GPU, the calling thread's current one for the lifetime
/// of the guard, as calls of CUDA's libraries need it.
class SW_API GpuContextGuard {
 public:
  /// With `relaxed_capture` the thread may also make calls that CUDA refuses while another thread
  /// captures a stream, such as freeing memory. Throws DeviceError.
  explicit GpuContextGuard(Device device, bool relaxed_capture = false);
  ~GpuContextGuard();
  GpuContextGuard(const GpuContextGuard&) = delete;
  GpuContextGuard& operator=(const GpuContextGuard&) = delete;

 private:
  Device device_;
  unsigned entered_;  // what the back end needs to restore the former state
};

/// The files lib<name>.so* of a library of CUDA, such as "nccl": those in the folders of config
/// "cuda_library_path", of a toolkit, of wheels and of the system, in this order, and by descending
/// version in each folder. Loads nothing.
SW_API std::vector<std::string> find_cuda_library(std::string_view name);

}  // namespace spanwise
