// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "parse/source_scan.hpp"

namespace spanwise::cpu_backend {

/// An error message ("kernel.cu:12: cubemap textures (texCubemap) exist only on a GPU. ...") for
/// the first unsupported construct, or "" if there is none. Code under #if is skipped: it may be
/// guarded, and otherwise the compiler reports it.
std::string find_unsupported(const parse::SourceScan& scan, std::string_view file_name);

}  // namespace spanwise::cpu_backend
