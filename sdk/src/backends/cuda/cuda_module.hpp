// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/device_context.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "runtime/backend.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/kernel_types.hpp"

namespace spanwise::cuda {

/// Limits of the launches of one kernel on one device.
struct LaunchLimits {
  const DeviceProperties* device = nullptr;
  int max_threads = 1024;          ///< per block of this kernel: fewer if it needs many registers
  std::int64_t static_shared = 0;  ///< bytes of the kernel's static shared memory

  /// Whether a launch is within all limits.
  bool allows(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes) const noexcept {
    const auto fits = [](const Dim3& dim, const std::array<std::int64_t, 3>& limits) {
      return dim.x >= 1 && dim.x <= limits[0] && dim.y >= 1 && dim.y <= limits[1] && dim.z >= 1 &&
             dim.z <= limits[2];
    };
    return fits(block, device->max_block) && block.x * block.y * block.z <= max_threads &&
           fits(grid, device->max_grid) && shared_bytes >= 0 &&
           shared_bytes + static_shared <= device->max_shared_bytes_optin;
  }
  /// Throws KernelArgumentError for a launch that allows() rejects, with the limit and the value
  /// that exceeds it.
  [[noreturn]] void refuse(const std::string& kernel, const Dim3& grid, const Dim3& block,
                           std::int64_t shared_bytes) const;
};

/// A cubin, PTX, fat binary or LTO-IR that is loaded on one device.
///
/// Loaded as a CUlibrary, which is independent of contexts: the driver loads code onto the device
/// when the first kernel or variable is requested.
class CudaModule final : public runtime::LoadedModule {
 public:
  /// Throws DeviceError with the driver's log if the driver rejects the image, ArgumentError and
  /// DeviceError as require_runnable(), and CompileError if LTO-IR has unresolved symbols.
  CudaModule(DeviceContext& context, const std::string& image);
  ~CudaModule() override;

  /// Finds a kernel by symbol or by a name of names_of() (device_image.hpp). Throws ArgumentError
  /// with a list of the kernels if there is none.
  Ref<runtime::LoadedKernel> kernel(const std::string& name) override;
  std::map<std::string, std::string> kernel_symbols() const override { return kernels_; }
  /// Finds a variable by symbol or by a name of names_of(); null if there is none.
  Global global(const std::string& name) override;
  std::uintptr_t handle() override;

 private:
  void load(const std::string& image);
  void enumerate_kernels();
  std::string driver_log() const;
  CUresult find_kernel(CUkernel& kernel, const std::string& symbol) const;
  Global find_global(const std::string& symbol) const;

  DeviceContext& context_;
  // The driver's log of compiling PTX, which it may write as late as in kernel().
  std::vector<char> log_;
  CUlibrary library_ = nullptr;
  std::map<std::string, std::string> kernels_, variables_;  // names -> symbols
};

class CudaKernel final : public runtime::LoadedKernel {
 public:
  /// The device's context must be current.
  CudaKernel(Ref<CudaModule> module, DeviceContext& context, CUkernel kernel,
             const std::string& symbol);

  std::vector<ParameterInfo> parameter_info() const override { return parameter_info_; }
  KernelAttributes attributes() const override;
  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(function_);
  }
  CUfunction function() const noexcept { return function_; }
  std::span<const ParameterInfo> parameter_list() const noexcept { return parameter_info_; }
  const std::string& name() const noexcept { return name_; }
  std::string parameter_types() const override { return types_; }
  void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
              runtime::StreamState& stream, void* const* arguments) override;
  void launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid, const Dim3& block,
                   std::int64_t shared_bytes, runtime::StreamState& stream,
                   void* const* arguments) override;
  int max_active_blocks(int threads, std::int64_t shared_bytes) override;
  /// Queues a launch that is within the limits, on the path that LaunchTuner chooses. The context
  /// must be current.
  CUresult start(const LaunchShape& shape, CUstream stream, void* const* arguments);

 private:
  int attribute(CUfunction_attribute id) const;
  CUresult launch_directly(const LaunchShape& shape, CUstream stream, void* const* arguments) const;
  void read_slots(CUkernel kernel);
  void allow_dynamic_shared();
  void prepare(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes);
  template <class Call>
  void queue(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
             runtime::StreamState& stream, Call&& call);
  void check_attributes(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                        const Dim3& block, std::int64_t shared_bytes);
  void wait_for_errors(CUstream stream) const;

  Ref<CudaModule> module_;
  DeviceContext& context_;
  CUfunction function_ = nullptr;
  std::string name_, types_;
  std::vector<ParameterInfo> parameter_info_;
  KernelGraphCache graphs_;
  LaunchTuner tuner_;
  LaunchLimits limits_;
  // The current limit of dynamic shared memory, in bytes; raised at the first launch that needs
  // more.
  std::atomic<std::int64_t> dynamic_shared_{0};
};

}  // namespace spanwise::cuda
