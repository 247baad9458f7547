// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The options of a compile request, as nvcc, NVRTC and host compilers spell them: one list of
/// options (compiler_options.cpp) says what each back end does with each. Names may begin with one
/// or two dashes. A value follows '=' or is the next option; it may follow a letter directly
/// ("-DN=4").
namespace spanwise::parse {

/// Options for the preprocessor: -D, -U, -I, -isystem, -iquote, -include and their long names.
struct PreprocessorOptions {
  /// "#define N 4" and "#undef N", in the order of the options. Back ends insert them after their
  /// own headers in place of -D and -U: these headers have template parameters named T, which
  /// -DT=float would break.
  std::vector<std::string> directives;
  std::vector<std::string> include_dirs;
  std::vector<std::string> pre_includes;  ///< files to include after the directives
};

/// Only these options; all others are ignored. Throws ArgumentError for a missing value, as the
/// functions below do.
PreprocessorOptions preprocessor_options(std::span<const std::string> options);

/// Options for the compiler of the host.
struct HostOptions : PreprocessorOptions {
  std::vector<std::string> flags;  ///< passed to the compiler
  std::string language = "-std=c++17";
};

/// Accepts NVRTC's options and nvcc's common ones: -D, -U, -I, -std, --pre-include, -O, -g and
/// -fmad are passed to the host compiler; options that concern only GPU code (architecture, line
/// tables, ptxas, register counts) are ignored. Throws ArgumentError for any other option.
HostOptions host_options(std::span<const std::string> options);

/// Whether one of the options chooses the language standard.
bool sets_standard(std::span<const std::string> options);

/// Options for NVRTC.
struct NvrtcOptions : PreprocessorOptions {
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
NvrtcOptions nvrtc_options(std::span<const std::string> options, int major, int minor);

/// Only the architecture of nvrtc_options() ("sm_90"); ignores all other options. Throws
/// ArgumentError for an architecture that does not run on the device.
std::string nvrtc_architecture(std::span<const std::string> options, int major, int minor);

/// 90 for "sm_90", "sm_90a" and "compute_90"; 0 for other texts.
int architecture_number(std::string_view architecture);

}  // namespace spanwise::parse
