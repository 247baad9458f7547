// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/module_state.hpp"
#include "runtime/backend.hpp"
#include "spanwise/kernels/kernel.hpp"

/// Kernels compiled ahead of time: bundles, and those that this process uses in the place of its
/// compilers.
namespace spanwise::kernels {

/// A source and its binaries for several targets: "x86-64-v3" for the CPU, "sm_90" (cubin) and
/// "compute_80" (PTX) for GPUs.
struct BundleUnit {
  std::string text, file_name;
  std::vector<std::string> options, names;
  bool declares_variables = false;  ///< that persist between launches
  std::vector<std::pair<std::string, runtime::KernelBinary>> images;  ///< target and binary

  /// The binary that suits `device` best; null where none runs there.
  const runtime::KernelBinary* image_for(Device device) const;
};

struct Bundle {
  std::string metadata;  ///< of the language binding
  std::vector<BundleUnit> units;

  /// The contents of a file, which ends with a checksum.
  std::string write() const;
  /// Throws ArgumentError for other contents than those of write(): for one of a newer interface,
  /// for a file that is truncated or changed, with `name`, the name of the file.
  static Bundle read(std::string_view contents, std::string_view name);
  /// Whether the contents begin as those of a bundle.
  static bool is_bundle(std::string_view contents) noexcept;
};

/// Compiles a source for `targets`, of which no device has to be present. Throws CompileError,
/// DeviceError where there is no compiler, ArgumentError for an unknown target.
BundleUnit compile_unit(std::string_view source, const ModuleOptions& options,
                        const std::vector<std::string>& targets);

/// The module of the only source in `bundle`. Throws ArgumentError for several sources,
/// DeviceError, which lists the targets, where none runs on the device.
Ref<ModuleState> load_bundle(const Bundle& bundle, Device device);

/// From now on modules of the sources of `bundle` are loaded from it, on devices for which it has
/// binaries.
void attach_bundle(Bundle bundle);
/// The attached unit of the source with these options that has all `names` and runs on `device`;
/// null where there is none. It lives as long as the process.
const BundleUnit* find_attached(std::string_view text, const std::vector<std::string>& options,
                                const std::vector<std::string>& names, Device device);

}  // namespace spanwise::kernels
