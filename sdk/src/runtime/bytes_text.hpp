// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spanwise::runtime {

/// As a person reads it: "17 bytes", "1.50 GiB".
std::string bytes_text(std::int64_t bytes);

}  // namespace spanwise::runtime
