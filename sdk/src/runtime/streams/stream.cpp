// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/stream.hpp"

#include "runtime/registry.hpp"
#include "runtime/streams/ordering.hpp"
#include "runtime/streams/persistent_streams.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {

using runtime::EventState;
using runtime::StreamState;

Stream::Stream(Ref<StreamState> state) noexcept : state_(std::move(state)) {}

Stream Stream::create(Device device) {
  return Stream(runtime::backend_for(device).create_stream(working_device(device).ordinal()));
}

namespace {

void check_foreign_stream(Device device, std::uintptr_t handle) {
  if (!device.is_cuda())
    fail<ArgumentError>("stream: ", device,
                        " has no streams of other libraries; expected a cuda device");
  if (handle == 0)
    fail<ArgumentError>(
        "stream: handle 0 is ambiguous; pass 1 for the legacy default stream or 2 for ",
        "the calling thread's");
}

// Whether the stream may be destroyed: the default streams (1, 2) never are.
bool may_be_destroyed(std::uintptr_t handle) noexcept {
  return handle > runtime::per_thread_stream;
}

// Shared by all copies of a Stream made by Stream::foreign() without an owner.
class ForeignUse final : public RefCounted {
 public:
  explicit ForeignUse(Ref<StreamState> stream) noexcept : stream_(std::move(stream)) {}
  ~ForeignUse() override {
    if (!stream_->is_held_once()) stream_->detach();  // arrays still record work on it
  }

 private:
  Ref<StreamState> stream_;
};

}  // namespace

Stream Stream::persistent(Device device, std::uintptr_t handle) {
  check_foreign_stream(device, handle);
  return Stream(runtime::persistent_stream(device, handle));
}

Stream Stream::foreign(Device device, std::uintptr_t handle) {
  check_foreign_stream(device, handle);
  Stream stream(runtime::backend_for(device).foreign_stream(device.ordinal(), handle));
  if (may_be_destroyed(handle))
    stream.foreign_use_ = make_ref<ForeignUse>(Ref<StreamState>(&stream.state()));
  return stream;
}

Stream Stream::foreign(Device device, std::uintptr_t handle, Ref<RefCounted> owner) {
  check_foreign_stream(device, handle);
  Stream stream(runtime::backend_for(device).foreign_stream(device.ordinal(), handle));
  if (may_be_destroyed(handle)) stream.state().hold(std::move(owner));
  return stream;
}

Stream Stream::current(Device device) {
  return Stream(Ref<StreamState>(&runtime::current_stream(device)));
}

StreamState& Stream::state() const noexcept { return static_cast<StreamState&>(*state_); }

Device Stream::device() const noexcept { return state().device(); }

std::uintptr_t Stream::handle() const noexcept { return state().handle(); }

void Stream::synchronize() const {
  state().synchronize();
  runtime::check_wait(device());
}

bool Stream::query() const { return state().query(); }

void Stream::wait(const Event& event) const {
  if (event.device().is_cpu()) return;  // already completed
  if (device().is_cpu())
    event.state().synchronize();
  else
    state().wait(event.state());
}

void Stream::wait(const Stream& other) const { runtime::wait_for(state(), other.state()); }

Event Stream::record(bool timing) const { return Event(state().record(timing)); }

bool operator==(const Stream& a, const Stream& b) noexcept {
  return runtime::same_queue(a.state(), b.state());
}

Event::Event(Ref<EventState> state) noexcept : state_(std::move(state)) {}

Event Event::foreign(Device device, std::uintptr_t handle) {
  if (handle == 0)
    fail<ArgumentError>("Event.foreign: expected the handle of an event of ", device,
                        ", got 0; record the event first");
  return Event(runtime::backend_for(device).foreign_event(device.ordinal(), handle));
}

std::uintptr_t Event::handle() const noexcept { return state().handle(); }

EventState& Event::state() const noexcept { return static_cast<EventState&>(*state_); }

Device Event::device() const noexcept { return state().device(); }

void Event::synchronize() const {
  state().synchronize();
  runtime::check_wait(device());
}

bool Event::query() const { return state().query(); }

double Event::milliseconds_since(const Event& start) const {
  if (device() != start.device())
    fail<ArgumentError>("event: recorded on ", device(), ", the start on ", start.device(),
                        "; expected two events of one device");
  return state().milliseconds_since(start.state());
}

StreamGuard::StreamGuard(Stream stream)
    : stream_(std::move(stream)), previous_(stream_), had_previous_(false) {
  Ref<StreamState> previous =
      runtime::exchange_current_stream(stream_.device(), Ref<StreamState>(&stream_.state()));
  if (!previous) return;
  previous_ = Stream(std::move(previous));
  had_previous_ = true;
}

StreamGuard::~StreamGuard() {
  runtime::exchange_current_stream(stream_.device(),
                                   had_previous_ ? Ref<StreamState>(&previous_.state()) : nullptr);
}

}  // namespace spanwise
