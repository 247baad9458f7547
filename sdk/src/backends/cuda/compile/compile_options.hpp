// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parse/option_reader.hpp"

namespace spanwise::cuda {

/// A user's compiler options, translated for NVRTC.
struct CompileOptions : parse::PreprocessorOptions {
  /// Arguments for NVRTC, without the architecture and Spanwise's own include folders; with -I for
  /// include_dirs.
  std::vector<std::string> arguments;
  std::string architecture;  ///< "sm_90", "sm_90a", or "compute_80" for PTX
};

/// Accepts NVRTC's options, options of nvcc that have the same effect on kernels, and options of
/// host compilers that have a counterpart (-ffast-math, -std=gnu++17) or no effect on kernels (-O2,
/// -Wall). The architecture is the device's, sm_<major><minor>, unless -arch names a variant of it
/// (sm_90a), an older minor version of the same major version, or PTX of the same or an older
/// architecture. Throws ArgumentError with the option, the reason why it is rejected, and what to
/// write instead.
CompileOptions translate_options(std::span<const std::string> options, int major, int minor);

/// 90 for "sm_90", "sm_90a" and "compute_90"; 0 for other texts.
int architecture_number(std::string_view architecture);

/// Only the architecture of translate_options() ("sm_90"); ignores all other options. Throws
/// ArgumentError for an architecture that does not run on the device.
std::string architecture_for(std::span<const std::string> options, int major, int minor);

}  // namespace spanwise::cuda
