// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/source/source_scan.hpp"

namespace spanwise::host {

/// "kernel.cu:12: textures do not exist on the CPU (tex2D) ...", or "" where nothing of the kind is
/// found. Code under #if is not looked at: it may be guarded, and the compiler sees what is left.
std::string find_unsupported(const runtime::SourceScan& scan, std::string_view file_name);

/// `source` with its line numbers in front, for CompileError.
std::string with_line_numbers(std::string_view source);

}  // namespace spanwise::host
