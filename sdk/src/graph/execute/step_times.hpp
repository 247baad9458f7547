// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/execute/program.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::graph {

/// The time of each step of a function: host time, or on a GPU the time between two events, which
/// profile() and spans() read.
class StepTimes {
 public:
  explicit StepTimes(std::size_t steps) : profiles_(steps) {}

  /// Measures one run of a step.
  class Measure;
  void begin_call();
  void end_call();
  /// Waits for unfinished GPU work.
  FunctionProfile profile(const std::vector<Step>& steps);
  std::vector<StepSpan> spans();

 private:
  /// A step whose GPU work may not have finished.
  struct Pending {
    std::size_t step;
    Event before, after;
    std::size_t span;  ///< index in spans_, or past their end
  };
  /// Adds the duration of one run of a step; `span` is its index in spans_, or past their end.
  void add(std::size_t step, std::size_t span, double seconds);
  /// Waits for the pending steps and adds their durations.
  void add_pending();

  std::vector<StepProfile> profiles_;
  std::vector<Pending> pending_;
  std::vector<StepSpan> spans_;
  std::int64_t calls_ = 0;
  double call_seconds_ = 0;
  std::chrono::steady_clock::time_point call_start_{};
  const std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
};

/// Measures from construction to finish(); without finish() nothing is recorded.
class StepTimes::Measure {
 public:
  Measure(StepTimes& times, std::size_t position, const Step& step);
  void finish();

 private:
  StepTimes& times_;
  std::size_t position_;
  const Step& step_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Event> before_;
};

}  // namespace spanwise::graph
