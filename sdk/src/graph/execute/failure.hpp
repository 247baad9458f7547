// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "graph/execute/program.hpp"

namespace spanwise::graph {

/// The note about a node that failed in run(): its inputs' types, shapes and strides, and where it
/// was made.
std::string note_on_run(const std::string& function_name, const std::vector<Step>& steps,
                        std::size_t failed);
/// The note about a node whose make_thunk failed.
std::string note_on_compile(const std::string& function_name, const Apply& node);

/// Rethrows the current exception with its type unchanged and the text of `make_note` appended to
/// its message.
[[noreturn]] void rethrow_with_note(const std::function<std::string()>& make_note);

}  // namespace spanwise::graph
