// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/core/export.hpp"
#include "spanwise/kernels/kernel.hpp"

/// Bundles: files with the binaries of sources for several targets, compiled ahead of time. A
/// target is "x86-64-v3" for the CPU, "sm_90" (cubin) or "compute_80" (PTX) for GPUs.
namespace spanwise::bundles {

/// A text and the options of its module; of these `options`, `names`, `include_dirs` and
/// `file_name` are used.
using Source = std::pair<std::string, ModuleOptions>;

/// The contents of the bundle of `sources`, compiled for `targets`, of which no device has to be
/// present. `metadata` is stored with them. Throws CompileError, DeviceError where there is no
/// compiler, ArgumentError for an unknown target.
SW_API std::string compile(const std::vector<Source>& sources,
                           const std::vector<std::string>& targets, std::string metadata);

/// What a bundle holds, without the binaries.
struct Contents {
  struct Unit {
    Source source;
    std::vector<std::string> targets;
  };
  std::string metadata;
  std::vector<Unit> units;
};
/// Throws ArgumentError, with `name`, for a bundle of a newer interface, one that is truncated or
/// changed, and for other contents.
SW_API Contents read(std::string_view contents, std::string_view name);

/// From now on modules of the sources of the bundle are loaded from it, on devices for which it has
/// binaries. Throws as read().
SW_API void attach(std::string_view contents, std::string_view name);

}  // namespace spanwise::bundles
