// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/signature.hpp"
#include "runtime/backend.hpp"
#include "spanwise/array.hpp"
#include "spanwise/device.hpp"
#include "spanwise/ref.hpp"

namespace spanwise::kernels {

/// What a SourceModule shares: the loaded binary and what its source says. Immutable but for the
/// variables of the binary.
class ModuleState final : public RefCounted {
 public:
  /// `request` as it was compiled, with `source` for its text. `again` is the binary where the
  /// source declares variables that outlive a launch, else null.
  ModuleState(Device device, runtime::KernelSource source, runtime::CompileRequest request,
              std::map<std::string, std::string> symbols, Ref<runtime::LoadedModule> loaded,
              bool from_cache, std::shared_ptr<const runtime::KernelBinary> again = nullptr);

  /// This one at the first call; afterwards one that is loaded anew from the same binary, where the
  /// source declares variables. So each SourceModule has variables of its own, as in CUDA.
  Ref<ModuleState> with_own_variables();

  Device device() const noexcept { return device_; }
  bool from_cache() const noexcept { return from_cache_; }
  /// What was compiled; its `source` is this object's.
  const runtime::CompileRequest& request() const noexcept { return request_; }
  runtime::LoadedModule& loaded() const noexcept { return *loaded_; }

  struct Kernel {
    std::string name, symbol;
  };
  /// The kernel that the caller calls `name`. Throws ArgumentError listing the kernels there are.
  Kernel resolve(std::string_view name) const;
  /// As they can be given to resolve(); templates only where an instance was asked for.
  std::vector<std::string> function_names() const;
  /// The sources' declaration of the kernel `name` with `parameter_count` parameters; null where it
  /// is not in their own text, or several fit.
  const runtime::SourceKernel* declaration(std::string_view name,
                                           std::size_t parameter_count) const;

 private:
  const std::pair<const std::string, std::string>* find(std::string_view name) const;
  [[noreturn]] void fail_unknown(std::string_view name) const;

  Device device_;
  runtime::KernelSource source_;
  runtime::CompileRequest request_;
  std::map<std::string, std::string> symbols_;
  Ref<runtime::LoadedModule> loaded_;
  bool from_cache_;
  std::shared_ptr<const runtime::KernelBinary> again_;
  std::atomic<bool> is_taken_{false};  // with_own_variables() was called
};

/// What a Function shares: the loaded kernel and what a launch checks. Immutable.
class FunctionState final : public RefCounted {
 public:
  /// Throws ArgumentError for an unknown name.
  FunctionState(Ref<ModuleState> module, std::string_view name);
  /// The same kernel under another signature.
  FunctionState(const FunctionState& other, Signature signature);

  const std::string& name() const noexcept { return name_; }
  Device device() const noexcept { return module_->device(); }
  const Signature& signature() const noexcept { return signature_; }
  const Ref<ModuleState>& module() const noexcept { return module_; }
  runtime::LoadedKernel& kernel() const noexcept { return *kernel_; }

 private:
  Ref<ModuleState> module_;  // goes last: it keeps the kernel loaded
  std::string name_;
  Ref<runtime::LoadedKernel> kernel_;
  Signature signature_;
};

/// The bytes of a __device__ or __constant__ variable; the array keeps the module loaded. Throws
/// ArgumentError.
Array global_variable(const Ref<ModuleState>& module, std::string_view name);

}  // namespace spanwise::kernels
