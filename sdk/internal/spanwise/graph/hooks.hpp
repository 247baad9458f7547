// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/variable.hpp"

/// Hooks for a language binding, which are set once, before graphs are built.
namespace spanwise::graph {

/// Returns the calling thread's stack trace in the bound language, a few frames, innermost last; ""
/// where there is none.
using TraceSource = std::string (*)();
SW_API void set_trace_source(TraceSource source) noexcept;

/// Adds `note` in place to an exception that is not a spanwise::Error, so that it keeps its type
/// and traceback. Returns false for an exception of an unknown type.
using ExceptionNoter = bool (*)(const std::exception_ptr& exception,
                                const std::string& note) noexcept;
SW_API void set_exception_noter(ExceptionNoter noter) noexcept;

/// Receives warnings of one sentence each; may throw to turn a warning into an error. The default
/// writes to std::cerr.
using WarningSink = void (*)(const std::string& message);
SW_API void set_warning_sink(WarningSink sink) noexcept;

/// Receives each new node while config "compute_test_value" is not "off"; may throw.
using NodeObserver = void (*)(const Ref<Apply>& node);
SW_API void set_node_observer(NodeObserver observer) noexcept;

// The calls of the hooks, or of their defaults, by this layer.

/// The trace of the calling thread; "" where no trace source is set.
SW_API std::string current_trace();
/// Adds `note` to an exception that is not a spanwise::Error. Returns false where no hook is set or
/// the hook does not know the exception's type.
bool note_foreign(const std::exception_ptr& exception, const std::string& note) noexcept;
/// Passes a warning to the hook, which may throw; by default prints it to std::cerr.
void warn(const std::string& message);
/// Calls the observer of new nodes unless config "compute_test_value" is "off".
void observe(const Ref<Apply>& node);

}  // namespace spanwise::graph
