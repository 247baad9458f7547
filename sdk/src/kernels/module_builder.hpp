// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/cache/include_closure.hpp"
#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::kernels {

/// A module, with the compiler fingerprint and include files that it was built from.
struct BuiltModule {
  Ref<ModuleState> module;
  std::string fingerprint;
  IncludeClosure includes;
};

/// Loads the module from the disk cache, or compiles it with the back end's compiler.
/// `request.source` is set to `source`. Throws CompileError, DeviceError.
BuiltModule build_module(Device device, parse::KernelSource source,
                         runtime::CompileRequest request);

struct DiskCounts {
  std::int64_t hits = 0, misses = 0;
};
/// Lookups of modules in the disk cache by this process.
DiskCounts disk_counts() noexcept;

}  // namespace spanwise::kernels
