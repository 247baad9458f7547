// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "source/kernel_source.hpp"

namespace spanwise::cuda {

/// Implements keep=True: writes source and binary to a new folder and prints its path to standard
/// error. Throws DeviceError if the folder cannot be written.
void keep_kernel_files(const source::KernelSource& source, std::string_view image,
                       std::string_view suffix);

}  // namespace spanwise::cuda
