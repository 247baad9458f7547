// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "runtime/backend.hpp"

/// Kernel source to a binary for one GPU architecture. Needs NVRTC, but no driver and no GPU.
namespace spanwise::cuda {

/// The compute capability that is compiled for: 9 and 0 for sm_90.
struct ComputeCapability {
  int major = 0, minor = 0;
};

/// As Backend::compiler_fingerprint. The first line is NVRTC's file (name, size, time of change)
/// and, where the source includes anything, the toolkit's headers: NVRTC itself is not loaded for
/// it.
std::string compiler_fingerprint(ComputeCapability capability,
                                 const runtime::CompileRequest& request);

/// As Backend::compile: a cubin, or PTX where NVRTC is older than the architecture or PTX was asked
/// for. The symbols are those of the binary itself, so that kernels that macros and headers define
/// are found as well. Sources that are linked need nvJitLink, or the driver of device `ordinal`.
runtime::KernelBinary compile(ComputeCapability capability, const runtime::CompileRequest& request,
                              std::optional<int> ordinal = {});

}  // namespace spanwise::cuda
