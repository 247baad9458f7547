// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/backend.hpp"

/// Compiles kernel source to a binary for one GPU architecture. Needs NVRTC, but no driver and no
/// GPU.
namespace spanwise::cuda {

/// The target compute capability: 9 and 0 for sm_90.
struct ComputeCapability {
  int major = 0, minor = 0;
};

/// As Backend::compiler_fingerprint. The first line identifies NVRTC by its file (name, size,
/// mtime), the toolkit's headers if the source includes anything, nvJitLink if sources are linked,
/// and the device runtime if the source may launch kernels. Does not load NVRTC.
std::string compiler_fingerprint(ComputeCapability capability,
                                 const runtime::CompileRequest& request);

/// As Backend::compile: returns a cubin, or PTX if NVRTC is older than the architecture or the
/// options ask for PTX. The symbols are read from the binary, so kernels defined by macros and
/// headers are included. Linking several sources needs nvJitLink or, without it, the driver and
/// device `ordinal`.
runtime::KernelBinary compile(ComputeCapability capability, const runtime::CompileRequest& request,
                              std::optional<int> ordinal = {});

/// compile() for a target "sm_90", "sm_90a" or "compute_80" (PTX). Throws ArgumentError for others.
runtime::KernelBinary compile_for(const std::string& target,
                                  const runtime::CompileRequest& request);
/// As Backend::suitability: a cubin of the device's generation and not newer, before PTX that is
/// not newer.
int suitability(ComputeCapability device, std::string_view target);

/// The path of the CUDA device runtime, libcudadevrt.a, which kernels that launch kernels are
/// linked with (CUDA C++ Programming Guide 13.0, "CUDA Dynamic Parallelism"), in the folder of
/// NVRTC's `library` or in library_folders(); empty if it is not found.
std::filesystem::path device_runtime_archive(const std::filesystem::path& library);

}  // namespace spanwise::cuda
