// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::cuda {

/// A user's compiler options as NVRTC takes them.
struct CompileOptions {
  /// All but the architecture, the include folders of ours, and what is in the two lists below.
  std::vector<std::string> arguments;
  /// "#define N 4" and "#undef N", in the order given. They stand before the text, for NVRTC takes
  /// -DT=float into headers of its own, which have templates of T.
  std::vector<std::string> directives;
  std::vector<std::string> pre_includes;  ///< files to include behind them
  std::string architecture;               ///< "sm_90", "sm_90a", or "compute_80" for PTX
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
