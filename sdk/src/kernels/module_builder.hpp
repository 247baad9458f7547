// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/include_closure.hpp"
#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/device.hpp"

namespace spanwise::kernels {

/// A module and what it was made from, beyond its own request.
struct BuiltModule {
  Ref<ModuleState> module;
  std::string fingerprint;
  IncludeClosure includes;
};

/// From the disk cache or through the back end's compiler. `request.source` is set to `source`.
/// Throws CompileError, DeviceError.
BuiltModule build_module(Device device, runtime::KernelSource source,
                         runtime::CompileRequest request);

/// The same for kernels that are a back end's own (runtime::load_own_module), which the counts
/// leave out: they say what the user's modules did.
Ref<runtime::LoadedModule> build_own_module(Device device, const runtime::KernelSource& source);

struct DiskCounts {
  std::int64_t hits = 0, misses = 0;
};
/// Of this process.
DiskCounts disk_counts() noexcept;

}  // namespace spanwise::kernels
