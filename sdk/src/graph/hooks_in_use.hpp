// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "spanwise/graph/variable.hpp"
#include "spanwise/core/ref.hpp"

/// Calls the hooks of spanwise/graph/hooks.hpp, or their defaults.
namespace spanwise::graph {

/// The trace of the calling thread; "" where no trace source is set.
std::string current_trace();
/// Adds `note` to an exception that is not a spanwise::Error. Returns false where no hook is set or
/// the hook does not know the exception's type.
bool note_foreign(const std::exception_ptr& exception, const std::string& note) noexcept;
/// Passes a warning to the hook, which may throw; by default prints it to std::cerr.
void warn(const std::string& message);
/// Calls the observer of new nodes unless config "compute_test_value" is "off".
void observe(const Ref<Apply>& node);

}  // namespace spanwise::graph
