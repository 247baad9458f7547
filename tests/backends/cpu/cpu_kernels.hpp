// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"
#include "support/environment_variable.hpp"

namespace spanwise::test {

/// Compiles and loads a source for the CPU as the kernels layer does, without a cache, and launches
/// its kernels.
class CpuKernels {
 public:
  explicit CpuKernels(std::string source, std::vector<std::string> names = {},
                      std::vector<std::string> options = {},
                      std::vector<std::string> include_dirs = {})
      : source_(parse::scan_kernels(std::move(source))) {
    runtime::CompileRequest request;
    request.source = &source_;
    request.names = std::move(names);
    request.options = std::move(options);
    request.include_dirs = std::move(include_dirs);
    binary_ = backend().compile(0, request);
    module_ = backend().load(0, binary_);
  }

  struct Launch {
    Dim3 grid{}, block{};
    std::int64_t shared = 0;
  };
  /// `args` must have the types of the kernel's parameters.
  template <class... Args>
  void run(const std::string& name, const Launch& launch, Args... args) {
    void* pointers[] = {&args..., nullptr};
    const auto stream = backend().default_stream(0);
    kernel(name)->launch(launch.grid, launch.block, launch.shared, *stream, pointers);
  }

  Ref<runtime::LoadedKernel> kernel(const std::string& name) {
    const auto symbol = binary_.symbols.find(name);
    if (symbol == binary_.symbols.end()) fail<ArgumentError>("no kernel ", name);
    return module_->kernel(symbol->second);
  }
  runtime::LoadedModule& module() { return *module_; }
  const runtime::KernelBinary& binary() const { return binary_; }
  static runtime::Backend& backend() { return runtime::backend_for(cpu); }

 private:
  parse::KernelSource source_;
  runtime::KernelBinary binary_;
  Ref<runtime::LoadedModule> module_;
};

/// Sets a setting of config until the end of the scope.
class SettingGuard {
 public:
  SettingGuard(const char* name, const std::string& value)
      : name_(name), before_(config::get(name)) {
    config::set(name, value);
  }
  ~SettingGuard() { config::set(name_, before_); }
  SettingGuard(const SettingGuard&) = delete;
  SettingGuard& operator=(const SettingGuard&) = delete;

 private:
  const char* name_;
  std::string before_;
};

}  // namespace spanwise::test
