// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace spanwise::kernels {

/// The part of a kernel's source that goes into the message of a compile error: all of a short one,
/// else what stands around the lines that the compiler's log names as "<file>:<line>" or
/// "<file>(<line>)". `numbered` is the source with a line number in front of each line.
std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file);

}  // namespace spanwise::kernels
