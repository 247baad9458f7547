// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanwise::cuda {

/// Default options for NVRTC, without those that the user's `options` replace.
std::vector<std::string> default_options(const std::vector<std::string>& options);

/// NVRTC then declares no textures, surfaces and functions of the CUDA runtime, and compiles no
/// launches from kernels. Without these a small kernel takes a fifth less time.
inline constexpr const char* minimal_option = "--minimal";
/// Whether NVRTC of this version has minimal_option: from CUDA 12.4 on.
constexpr bool has_minimal_option(int major, int minor) {
  return major > 12 || (major == 12 && minor >= 4);
}
/// Whether `source` appears to need nothing that minimal_option leaves out, and includes no headers
/// but those of Spanwise. If it does need it, it does not compile with the option.
bool may_be_minimal(std::string_view source);

/// Headers passed to NVRTC with each source: names and texts, as C strings of static storage
/// duration.
struct RtcHeaders {
  std::vector<const char*> names, texts;
};
/// The parts of the standard headers (stdint.h, cmath, ...) that kernels use, so that one source
/// compiles for CPU and CUDA. Without the toolkit's headers, also empty headers in place of those
/// whose contents NVRTC has built in (cuda_runtime.h, ...).
RtcHeaders rtc_headers(bool has_toolkit_headers);

/// A hash of the options that are not the user's, and of the headers, for fingerprints.
const std::string& default_options_digest();

}  // namespace spanwise::cuda
