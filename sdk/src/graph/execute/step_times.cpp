// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/step_times.hpp"

#include <utility>

namespace spanwise::graph {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Limits of pending events and recorded spans, which bound the memory of long runs.
constexpr std::size_t max_pending = 4096, max_spans = 100000;

}  // namespace

StepTimes::Measure::Measure(StepTimes& times, std::size_t position, const Step& step)
    : times_(times), position_(position), step_(step) {
  if (!step.device.is_cpu()) before_ = Stream::current(step.device).record(true);
}

void StepTimes::Measure::finish() {
  StepProfile& profile = times_.profiles_[position_];
  ++profile.calls;
  profile.output_bytes = 0;
  for (const Ref<Cell>& cell : step_.outputs)
    if (cell->value) profile.output_bytes += cell->value->nbytes();
  const Clock::time_point now = Clock::now();
  const double start = seconds_between(times_.origin_, start_);
  const std::size_t span = times_.spans_.size();
  if (span < max_spans) times_.spans_.push_back({position_, start, 0});
  if (!before_) return times_.add(position_, span, seconds_between(start_, now));
  if (times_.pending_.size() == max_pending) times_.add_pending();
  times_.pending_.push_back(
      {position_, std::move(*before_), Stream::current(step_.device).record(true), span});
}

void StepTimes::add(std::size_t step, std::size_t span, double seconds) {
  profiles_[step].seconds += seconds;
  if (span < spans_.size()) spans_[span].seconds = seconds;
}

void StepTimes::add_pending() {
  for (Pending& pending : pending_) {
    pending.after.synchronize();
    add(pending.step, pending.span, pending.after.milliseconds_since(pending.before) * 1e-3);
  }
  pending_.clear();
}

void StepTimes::begin_call() { call_start_ = Clock::now(); }

void StepTimes::end_call() {
  ++calls_;
  call_seconds_ += seconds_between(call_start_, Clock::now());
}

FunctionProfile StepTimes::profile(const std::vector<Step>& steps) {
  add_pending();
  FunctionProfile result{calls_, call_seconds_, profiles_};
  for (std::size_t i = 0; i < steps.size(); ++i) result.steps[i].node = steps[i].node;
  return result;
}

std::vector<StepSpan> StepTimes::spans() {
  add_pending();
  return spans_;
}

}  // namespace spanwise::graph
