// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise::kernels {

/// The folder of the disk cache: "kernels" in config "cache_dir"; "" where that is not set and the
/// user has no home folder.
std::string kernel_folder();
/// Config "cache_limit_mb" in bytes.
std::int64_t cache_limit_bytes();

}  // namespace spanwise::kernels
