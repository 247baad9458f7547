// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace spanwise::kernels {

/// The excerpt of a kernel's source for the message of a compile error: the whole of a short one,
/// else the lines around those that the compiler's log names as "<file>:<line>" or
/// "<file>(<line>)". `numbered` is the source with a line number before each line.
std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file);

}  // namespace spanwise::kernels
