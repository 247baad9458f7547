// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace spanwise::kernels {

/// Whether the environment variable SPANWISE_LOG contains "kernels" or "all" among its
/// comma-separated words. Read once.
bool logging() noexcept;
/// Writes "spanwise kernels: <text>" to stderr if logging() is true.
void log_line(std::string_view text) noexcept;

}  // namespace spanwise::kernels
