// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise::runtime {

/// A human-readable size
std::string bytes_text(std::int64_t bytes);

}  // namespace spanwise::runtime
