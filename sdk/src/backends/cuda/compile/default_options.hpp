// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::cuda {

/// Default options for NVRTC, without those that the user's `options` replace.
std::vector<std::string> default_options(const std::vector<std::string>& options);

/// Headers passed to NVRTC with each source: names and texts, as C strings of static storage
/// duration.
struct RtcHeaders {
  std::vector<const char*> names, texts;
};
/// The parts of the standard headers (stdint.h, cmath, ...) that kernels use, so that one source
/// compiles for CPU and CUDA. Without the toolkit's headers, also empty headers in place of those
/// whose contents NVRTC has built in (cuda_runtime.h, ...).
RtcHeaders rtc_headers(bool has_toolkit_headers);

/// A hash of the default options and headers, for fingerprints.
const std::string& default_options_digest();

}  // namespace spanwise::cuda
