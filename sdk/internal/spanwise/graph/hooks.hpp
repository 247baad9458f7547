// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/graph/variable.hpp"

/// Hooks for a language binding. Set once, before graphs are built.
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

}  // namespace spanwise::graph
