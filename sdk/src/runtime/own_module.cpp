// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "runtime/backend.hpp"

namespace spanwise::runtime {
namespace {

// Constant-initialised, since a static initialiser sets it.
constinit std::atomic<ModuleLoader> own_loader{nullptr};

Ref<LoadedModule> compile_and_load(Device device, const source::KernelSource& source) {
  CompileRequest request;
  request.source = &source;
  Backend& backend = backend_for(device);
  return backend.load(device.ordinal(), backend.compile(device.ordinal(), request));
}

}  // namespace

ModuleLoader set_module_loader(ModuleLoader loader) noexcept { return own_loader.exchange(loader); }

Ref<LoadedModule> load_own_module(Device device, const source::KernelSource& source) {
  const ModuleLoader loader = own_loader.load();
  return loader != nullptr ? loader(device, source) : compile_and_load(device, source);
}

}  // namespace spanwise::runtime
