// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spanwise::cuda {

/// What NVRTC is told unless the user's `options` say otherwise.
std::vector<std::string> default_options(const std::vector<std::string>& options);

/// Headers given to NVRTC with each source: name and text, as C strings that live for ever.
struct RtcHeaders {
  std::vector<const char*> names, texts;
};
/// The host's standard headers (stdint.h, cmath, ...), as far as kernels use them, so that one
/// source compiles on both devices; without the toolkit's headers, also those that NVRTC has built
/// in.
RtcHeaders rtc_headers(bool has_toolkit_headers);

/// Changes when anything above does.
const std::string& default_options_digest();

}  // namespace spanwise::cuda
