// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace spanwise::kernels {

/// True where the environment variable SPANWISE_LOG asks for this layer: "kernels" among its
/// comma-separated words, or "all". Read once.
bool logging() noexcept;
/// One line on the standard error stream, "spanwise kernels: ...". Only under logging().
void log_line(std::string_view text) noexcept;

}  // namespace spanwise::kernels
