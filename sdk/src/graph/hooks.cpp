// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/hooks.hpp"

#include <atomic>
#include <iostream>

#include "spanwise/runtime/config.hpp"

namespace spanwise::graph {
namespace {

std::atomic<TraceSource> trace_source{nullptr};
std::atomic<ExceptionNoter> exception_noter{nullptr};
std::atomic<WarningSink> warning_sink{nullptr};
std::atomic<NodeObserver> node_observer{nullptr};

[[maybe_unused]] const bool test_values_declared = config::declare(
    {.name = "compute_test_value",
     .description = "compute each expression when it is written, from the test values of its "
                    "inputs (x.tag.test_value); of an input without one: raise, warn or ignore",
     .default_value = "off",
     .choices = {"off", "warn", "raise", "ignore"}});
constinit const config::Choice test_values{"compute_test_value"};

}  // namespace

void set_trace_source(TraceSource source) noexcept { trace_source = source; }
void set_exception_noter(ExceptionNoter noter) noexcept { exception_noter = noter; }
void set_warning_sink(WarningSink sink) noexcept { warning_sink = sink; }
void set_node_observer(NodeObserver observer) noexcept { node_observer = observer; }

void observe(const Ref<Apply>& node) {
  const NodeObserver observer = node_observer.load();
  if (observer != nullptr && test_values.get() != 0) observer(node);
}

std::string current_trace() {
  const TraceSource source = trace_source.load();
  return source == nullptr ? std::string() : source();
}

bool note_foreign(const std::exception_ptr& exception, const std::string& note) noexcept {
  const ExceptionNoter noter = exception_noter.load();
  return noter != nullptr && noter(exception, note);
}

void warn(const std::string& message) {
  if (const WarningSink sink = warning_sink.load())
    sink(message);
  else
    std::cerr << "spanwise: warning: " << message << '\n';
}

}  // namespace spanwise::graph
