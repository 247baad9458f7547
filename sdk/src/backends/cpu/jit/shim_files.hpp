// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "runtime/system/temporary_folder.hpp"

namespace spanwise::host {

/// Whether `name` is one of the embedded headers that replace CUDA's and the C library's.
bool is_shim_header(std::string_view name);
void write_shim(const runtime::TemporaryFolder& folder);
/// Defines for the parts of spanwise_cpu.h that declare one of the names in `used`.
std::string shim_parts(const std::set<std::string_view>& used);
/// A hash of all shim headers.
const std::string& shim_fingerprint();

}  // namespace spanwise::host
