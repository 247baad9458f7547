// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernels/cache/include_closure.hpp"
#include "runtime/backend.hpp"
#include "spanwise/device.hpp"

namespace spanwise::kernels {

/// The cache key of a compiled result: a SHA-256 over everything that determines it. Equal keys
/// mean equal results, also between processes and after files have changed.
std::string cache_key(DeviceKind kind, std::string_view fingerprint,
                      const runtime::CompileRequest& request, const IncludeClosure& includes);

}  // namespace spanwise::kernels
