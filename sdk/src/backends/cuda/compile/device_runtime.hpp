// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "runtime/backend.hpp"

/// The CUDA device runtime, which is linked for dynamic parallelism, i.e. kernels that launch
/// kernels (CUDA C++ Programming Guide 13.0, "CUDA Dynamic Parallelism").
namespace spanwise::cuda {

/// Whether the text contains a launch, kernel<<<...>>>(...), possibly in host-only code that NVRTC
/// skips. False for compiled sources.
bool may_launch_kernels(const parse::KernelSource& source);

/// The path of libcudadevrt.a, in the folder of NVRTC's `library` or in library_folders(); empty if
/// it is not found.
std::filesystem::path device_runtime_archive(const std::filesystem::path& library);

/// The archive as a compiled source to link. Throws DeviceError if it cannot be read.
parse::KernelSource read_device_runtime(const std::filesystem::path& archive);

}  // namespace spanwise::cuda
