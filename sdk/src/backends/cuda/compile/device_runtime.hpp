// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "runtime/backend.hpp"

/// NVIDIA's device runtime, the library that kernels which launch kernels are linked with (CUDA C++
/// Programming Guide 13.0, "CUDA Dynamic Parallelism").
namespace spanwise::cuda {

/// Whether the text has a launch, kernel<<<...>>>(...), anywhere: perhaps in a part for the host
/// that NVRTC does not see.
bool may_launch_kernels(const runtime::KernelSource& source);

/// libcudadevrt.a, beside NVRTC's `library` or where CUDA's libraries are; empty where there is
/// none.
std::filesystem::path device_runtime_archive(const std::filesystem::path& library);

/// The archive as a source that is linked. Throws DeviceError where it cannot be read.
runtime::KernelSource read_device_runtime(const std::filesystem::path& archive);

}  // namespace spanwise::cuda
