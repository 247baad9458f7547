// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "spanwise/graph/variable.hpp"
#include "spanwise/ref.hpp"

/// Calls the hooks of spanwise/graph/hooks.hpp, or their defaults.
namespace spanwise::graph {

/// "" where no trace source is set.
std::string current_trace();
/// False where no hook is set or the hook does not handle the exception.
bool note_foreign(const std::exception_ptr& exception, const std::string& note) noexcept;
void warn(const std::string& message);
/// Calls the observer of new nodes, if config "compute_test_value" asks for it.
void observe(const Ref<Apply>& node);

}  // namespace spanwise::graph
