// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "spanwise/core/error.hpp"
#include "support/recording_backend.hpp"

/// The streams and events of a RecordingBackend: work runs when something waits for it.
namespace spanwise::test {

using runtime::EventState;
using runtime::StreamState;
using Guard = std::lock_guard<std::recursive_mutex>;

class LazyEvent final : public EventState {
 public:
  LazyEvent(RecordingBackend& backend, LazyStream& stream, int number, bool timing);
  std::uintptr_t handle() const noexcept override { return static_cast<std::uintptr_t>(number_); }
  void synchronize() override;
  bool query() override;
  double milliseconds_since(EventState& start) override;

  void pass(int when) noexcept { passed_at_ = when; }
  int number() const noexcept { return number_; }

 private:
  RecordingBackend& backend_;
  LazyStream* stream_;  // not null; the stream completes its events before it is destroyed
  int number_;
  bool timing_;
  int passed_at_ = -1;  // the back end's count of work done then; -1: not passed
};

class LazyStream final : public StreamState {
 public:
  LazyStream(RecordingBackend& backend, std::string name, int ordinal, std::uintptr_t handle)
      : StreamState(Device(DeviceKind::cuda, ordinal)),
        backend_(backend),
        name_(std::move(name)),
        handle_(handle) {
    backend_.streams_.push_back(this);
  }
  ~LazyStream() override {
    const Guard guard(backend_.mutex_);
    run();
    std::erase(backend_.streams_, this);
  }

  std::uintptr_t handle() const noexcept override { return handle_; }
  void synchronize() override {
    const Guard guard(backend_.mutex_);
    expect_no_capture();
    backend_.note("synchronize " + name_);
    if (backend_.waits_broken_) fail<DeviceError>("recording backend: waits are broken");
    run();
  }
  bool query() override {
    const Guard guard(backend_.mutex_);
    expect_no_capture();
    return work_.empty();
  }
  void flush() noexcept override {
    const Guard guard(backend_.mutex_);
    ++backend_.flushes_;
  }
  void detach() noexcept override {
    const Guard guard(backend_.mutex_);
    backend_.detached_.push_back(name_);
  }
  bool is_captured() noexcept override { return is_captured_; }
  std::uint64_t capture_id() noexcept override { return is_captured_ ? graph_ : 0; }
  bool attach_to_graph(const RefCounted& object) noexcept override {
    const Guard guard(backend_.mutex_);
    backend_.attached_[graph_].emplace_back(&object);
    return true;
  }
  void set_capture(bool is_captured, std::uint64_t graph) noexcept {
    is_captured_ = is_captured;
    graph_ = graph;
  }
  Ref<EventState> record(bool timing) override {
    const Guard guard(backend_.mutex_);
    expect_no_capture();
    if (backend_.events_broken_) fail<DeviceError>("recording backend: events are broken");
    const auto event = make_ref<LazyEvent>(backend_, *this, ++backend_.recorded_events_, timing);
    backend_.note(text("record ", name_, " e", event->number()));
    queue([this, event] { event->pass(backend_.work_done_); });
    return event;
  }
  void wait(EventState& event) override {
    const Guard guard(backend_.mutex_);
    expect_no_capture();
    auto& lazy = static_cast<LazyEvent&>(event);
    backend_.note(text("wait ", name_, " e", lazy.number()));
    queue([awaited = Ref<LazyEvent>(&lazy)] { awaited->synchronize(); });
  }

  const std::string& name() const noexcept { return name_; }
  RecordingBackend& backend() const noexcept { return backend_; }
  void queue(std::function<void()> work) {
    (recorded_ != nullptr ? *recorded_ : work_).push_back(std::move(work));
  }
  /// From here on work goes to `recorded` instead, as in a captured stream; null: no longer.
  void set_recorded(std::deque<std::function<void()>>* recorded, std::uint64_t graph) noexcept {
    recorded_ = recorded;
    set_capture(recorded != nullptr, graph);
  }
  bool is_recorded() const noexcept { return recorded_ != nullptr; }
  void run() {
    while (!work_.empty()) step();
  }
  void step() {
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    ++backend_.work_done_;
    work();
  }

 private:
  void expect_no_capture() {
    if (is_captured_) ++backend_.faults_;
  }

  RecordingBackend& backend_;
  std::string name_;
  std::uintptr_t handle_;
  bool is_captured_ = false;
  std::uint64_t graph_ = 0;
  std::deque<std::function<void()>> work_;
  std::deque<std::function<void()>>* recorded_ = nullptr;
};

inline LazyEvent::LazyEvent(RecordingBackend& backend, LazyStream& stream, int number, bool timing)
    : EventState(stream.device()),
      backend_(backend),
      stream_(&stream),
      number_(number),
      timing_(timing) {}

inline void LazyEvent::synchronize() {
  const Guard guard(backend_.mutex_);
  while (passed_at_ < 0) stream_->step();
}

inline bool LazyEvent::query() {
  const Guard guard(backend_.mutex_);
  if (backend_.events_broken_ && passed_at_ < 0)
    fail<DeviceError>("recording backend: events are broken");
  return passed_at_ >= 0;
}

inline double LazyEvent::milliseconds_since(EventState& start) {
  const Guard guard(backend_.mutex_);
  auto& earlier = static_cast<LazyEvent&>(start);
  if (!timing_ || !earlier.timing_) fail<DeviceError>("recording backend: recorded without timing");
  if (passed_at_ < 0 || earlier.passed_at_ < 0)
    fail<DeviceError>("recording backend: not passed yet");
  return passed_at_ - earlier.passed_at_;
}

}  // namespace spanwise::test
