// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "spanwise/export.hpp"

/// What whoever binds the graph to another language tells it. Set once, before graphs are built.
namespace spanwise::graph {

/// Where the calling thread's program is now, a few frames, innermost last; "" where it cannot say.
using TraceSource = std::string (*)();
SW_API void set_trace_source(TraceSource source) noexcept;

/// Adds `note` to an exception that is none of Spanwise's own classes, in place, so that it keeps
/// its type and traceback. Returns false where it does not know the exception.
using ExceptionNoter = bool (*)(const std::exception_ptr& exception,
                                const std::string& note) noexcept;
SW_API void set_exception_noter(ExceptionNoter noter) noexcept;

/// Takes a warning, one sentence; may throw to turn it into an error. The default writes to
/// std::cerr.
using WarningSink = void (*)(const std::string& message);
SW_API void set_warning_sink(WarningSink sink) noexcept;

}  // namespace spanwise::graph
