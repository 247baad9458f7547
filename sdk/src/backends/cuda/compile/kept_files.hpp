// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/source/kernel_source.hpp"

namespace spanwise::cuda {

/// Writes source and binary to a new folder and names it on the standard error stream: what
/// keep=True asks for. Throws DeviceError where the folder cannot be written.
void keep_files(const runtime::KernelSource& source, std::string_view image,
                std::string_view suffix);

}  // namespace spanwise::cuda
