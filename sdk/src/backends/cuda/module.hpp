// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/context.hpp"
#include "backends/cuda/launch/kernel_graph_cache.hpp"
#include "backends/cuda/launch/launch_limits.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// A cubin, PTX, fat binary or LTO-IR on one device.
///
/// Loaded as a CUlibrary, which belongs to no context: nothing is placed on the device before the
/// first kernel or variable is asked for, and no context has to be created to hold it.
class CudaModule final : public runtime::LoadedModule {
 public:
  /// Throws DeviceError with the driver's own log where it does not take the image, CompileError
  /// where LTO-IR is not whole.
  CudaModule(DeviceContext& context, const std::string& image);
  ~CudaModule() override;

  /// By symbol, or by any name of names_of(). Throws ArgumentError listing the kernels there are.
  Ref<runtime::LoadedKernel> kernel(const std::string& name) override;
  std::map<std::string, std::string> kernel_symbols() const override { return kernels_; }
  /// By symbol, or by any name of names_of().
  Global global(const std::string& name) override;
  std::uintptr_t handle() override;

 private:
  void load(const std::string& image);
  void ask_for_kernels();
  std::string driver_log() const;
  CUresult find_kernel(CUkernel& kernel, const std::string& symbol) const;
  Global find_global(const std::string& symbol) const;

  DeviceContext& context_;
  // What the driver writes while it compiles PTX, which may be as late as at the first kernel.
  std::vector<char> log_;
  CUlibrary library_ = nullptr;
  std::map<std::string, std::string> kernels_, variables_;  // names -> symbols
};

class CudaKernel final : public runtime::LoadedKernel {
 public:
  /// The device's context is current.
  CudaKernel(Ref<CudaModule> module, DeviceContext& context, CUkernel kernel,
             const std::string& symbol);

  std::vector<Slot> slots() const override { return slots_; }
  KernelAttributes attributes() const override;
  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(function_);
  }
  CUfunction function() const noexcept { return function_; }
  std::span<const Slot> slot_list() const noexcept { return slots_; }
  const std::string& name() const noexcept { return name_; }
  std::string parameter_types() const override { return types_; }
  void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
              runtime::StreamState& stream, void* const* arguments) override;
  void launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid, const Dim3& block,
                   std::int64_t shared_bytes, runtime::StreamState& stream,
                   void* const* arguments) override;
  int max_active_blocks(int threads, std::int64_t shared_bytes) override;
  /// Queues a launch that is within the limits, by the way that is the quicker one on the device.
  /// The context is current.
  CUresult start(const LaunchShape& shape, CUstream stream, void* const* arguments);

 private:
  int attribute(CUfunction_attribute which) const;
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
  std::vector<Slot> slots_;
  KernelGraphCache nodes_;
  LaunchLimits limits_;
  // Dynamic shared memory that a launch may ask for now; raised at the first launch that needs
  // more.
  std::atomic<std::int64_t> dynamic_shared_{0};
};

}  // namespace spanwise::cuda
