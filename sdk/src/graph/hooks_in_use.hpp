// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

/// The hooks of spanwise/graph/hooks.hpp, or what stands for one that is not set.
namespace spanwise::graph {

/// "" where no source of traces is set.
std::string current_trace();
/// False where nobody knows the exception.
bool note_foreign(const std::exception_ptr& exception, const std::string& note) noexcept;
void warn(const std::string& message);

}  // namespace spanwise::graph
