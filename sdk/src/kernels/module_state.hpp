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
#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/ref.hpp"

namespace spanwise::kernels {

/// The shared state of a Module: the loaded binary and its scanned source. Immutable, except for
/// the binary's variables.
class ModuleState final : public RefCounted {
 public:
  /// `request` describes the compilation; its source is replaced by `source`. `binary` is null
  /// unless the source declares variables that persist between launches.
  ModuleState(Device device, parse::KernelSource source, runtime::CompileRequest request,
              std::map<std::string, std::string> symbols, Ref<runtime::LoadedModule> loaded,
              bool from_cache, bool declares_variables,
              std::shared_ptr<const runtime::KernelBinary> binary = nullptr);

  /// Returns this object at the first call; later calls load the binary again where the source
  /// declares variables, so that each SourceModule has its own variables, as in CUDA.
  Ref<ModuleState> with_own_variables();

  Device device() const noexcept { return device_; }
  bool from_cache() const noexcept { return from_cache_; }
  /// Whether the source may declare variables that persist between launches.
  bool declares_variables() const noexcept { return declares_variables_; }
  /// The compile request; its `source` points into this object.
  const runtime::CompileRequest& request() const noexcept { return request_; }
  runtime::LoadedModule& loaded() const noexcept { return *loaded_; }

  /// The module of the same source, compiled with checks of accesses, that checked launches run;
  /// null before set_checked(). Its variables are separate from this module's.
  Ref<ModuleState> checked() const;
  /// Sets checked() unless another thread has set it, and returns it.
  Ref<ModuleState> set_checked(Ref<ModuleState> module);

  struct KernelName {
    std::string name, symbol;
  };
  /// The kernel of that name, in any form that get_function() accepts. Throws ArgumentError listing
  /// the module's kernels.
  KernelName resolve(std::string_view name) const;
  /// Names for resolve(); of templates only the instances that were requested.
  std::vector<std::string> function_names() const;
  /// The declaration of kernel `name` with `parameter_count` parameters in the module's sources;
  /// null if only an included file declares it, or if it is ambiguous.
  const parse::SourceKernel* declaration(std::string_view name, std::size_t parameter_count) const;

 private:
  const std::pair<const std::string, std::string>* find(std::string_view name) const;
  [[noreturn]] void fail_unknown(std::string_view name) const;

  Device device_;
  parse::KernelSource source_;
  runtime::CompileRequest request_;
  std::map<std::string, std::string> symbols_;
  Ref<runtime::LoadedModule> loaded_;
  bool from_cache_;
  bool declares_variables_;
  std::shared_ptr<const runtime::KernelBinary> binary_;  // for with_own_variables(), else null
  mutable Mutex mutex_;                                  // guards checked_
  Ref<ModuleState> checked_;
  std::atomic<bool> variables_are_taken_{false};  // with_own_variables() was called
};

/// The shared state of a Kernel: the loaded kernel and its signature. Immutable.
class KernelState final : public RefCounted {
 public:
  /// Throws ArgumentError for an unknown name.
  KernelState(Ref<ModuleState> module, std::string_view name);
  /// The same kernel with another signature.
  KernelState(const KernelState& other, Signature signature);

  const std::string& name() const noexcept { return name_; }
  Device device() const noexcept { return module_->device(); }
  const Signature& signature() const noexcept { return signature_; }
  const Ref<ModuleState>& module() const noexcept { return module_; }
  runtime::LoadedKernel& kernel() const noexcept { return *kernel_; }

 private:
  Ref<ModuleState> module_;  // destroyed last: it keeps the kernel loaded
  std::string name_;
  Ref<runtime::LoadedKernel> kernel_;
  Signature signature_;
};

}  // namespace spanwise::kernels
