// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::cuda {

/// A user's compiler options as NVRTC takes them.
struct CompileOptions {
  std::vector<std::string> arguments;  ///< all but the architecture and the include folders of ours
  std::string architecture;            ///< "sm_90", "sm_90a", or "compute_80" for PTX
};

/// Takes NVRTC's options, nvcc's that mean the same to a kernel, and of the host compilers' those
/// that have a counterpart (-O2 and -Wall, which change nothing, -ffast-math, -std=gnu++17). The
/// architecture is the device's, sm_<major><minor>, unless -arch asks for a variant of it (sm_90a)
/// or for PTX of an older one. Throws ArgumentError naming the option, why it cannot be taken, and
/// what to write instead.
CompileOptions translate_options(std::span<const std::string> options, int major, int minor);

/// "sm_90" for what `options` make of the device; as translate_options, without looking at the
/// rest.
std::string architecture_for(std::span<const std::string> options, int major, int minor);

}  // namespace spanwise::cuda
