// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/shim/spanwise_abi.h"
#include "runtime/backend.hpp"

namespace spanwise::host {

/// A compiled module, loaded into this process.
class CpuModule final : public runtime::LoadedModule {
 public:
  /// Loads the image, with variables of its own. Throws DeviceError where it is no module that this
  /// library can run.
  explicit CpuModule(const runtime::KernelBinary& binary);
  ~CpuModule() override;

  /// By the name in KernelBinary::symbols. Throws ArgumentError.
  Ref<runtime::LoadedKernel> kernel(const std::string& symbol) override;
  Global global(const std::string& symbol) override;

  /// Of all kernels together, as the loader does not tell them apart, and with up to 64 bytes for
  /// threadIdx and its like.
  std::int64_t static_shared_bytes() const;
  /// "kernel.cu:7" for an instruction of a module that was compiled to be checked, as far as its
  /// debug information and a tool that reads it (addr2line, llvm-addr2line) are there; else "".
  std::string line_before(const void* code) const;

 private:
  void* library_ = nullptr;
  const sw_module* info_ = nullptr;
  std::vector<const sw_module*> units_;  // of each source; info_ first
  std::string image_;                    // of a module that is checked, to look up lines in
};

/// One kernel of a module, which it keeps loaded.
class CpuKernel final : public runtime::LoadedKernel {
 public:
  /// `unit` and `kernel` are in the module.
  CpuKernel(Ref<CpuModule> module, const sw_module& unit, const sw_kernel* kernel);
  std::vector<Slot> slots() const override;
  KernelAttributes attributes() const override;
  std::string parameter_types() const override;
  /// Done when it returns. Throws KernelArgumentError for a limit, DeviceError for what a thread of
  /// the kernel ran into.
  void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
              runtime::StreamState& stream, void* const* arguments) override;
  /// Cooperative launches are launches; clusters there are none.
  void launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid, const Dim3& block,
                   std::int64_t shared_bytes, runtime::StreamState& stream,
                   void* const* arguments) override;
  bool checks() const noexcept override { return unit_.checked != 0; }
  int max_active_blocks(int threads, std::int64_t shared_bytes) override;

 private:
  void launch_checked(const runtime::LaunchCheck& check, const Dim3& grid, const Dim3& block,
                      std::int64_t shared_bytes, void* const* arguments);

  Ref<CpuModule> module_;
  const sw_module& unit_;
  const sw_kernel* kernel_;
};

}  // namespace spanwise::host
