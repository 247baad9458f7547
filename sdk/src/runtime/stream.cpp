// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/queued_work.hpp"
#include "spanwise/runtime/stream.hpp"

// Streams and events, the current stream of each thread, and ordering between streams.
namespace spanwise::runtime {

std::atomic<bool> any_wait_fails{false};

namespace {

// A stream of the cache of persistent_stream().
struct PersistentStream {
  Device device;
  std::uintptr_t handle;
  Ref<StreamState> stream;
  std::int64_t holders;  // its reference count, this one included, when make_immortal() was called
  const PersistentStream* next;
};

// A linked list, since programs use few streams. Entries are only added, so it is read without a
// lock.
constinit std::atomic<const PersistentStream*> known_streams{nullptr};

const PersistentStream* find(Device device, std::uintptr_t handle) noexcept {
  const PersistentStream* cached = known_streams.load(std::memory_order_acquire);
  while (cached != nullptr && (cached->handle != handle || cached->device != device))
    cached = cached->next;
  return cached;
}

Ref<StreamState> add_stream(Device device, std::uintptr_t handle) {
  Ref<StreamState> stream = backend_for(device).foreign_stream(device.ordinal(), handle);
  if (handle == per_thread_stream) return stream;
  static NeverDestroyed<Mutex> mutex;
  const std::lock_guard lock(*mutex);
  // Another thread may have added it meanwhile.
  if (const PersistentStream* cached = find(device, handle)) return cached->stream;
  // The caller's reference is not counted, since the stream is immortal from here on.
  const std::int64_t holders = stream->use_count();
  const auto* cached = new PersistentStream{device, handle, stream, holders, known_streams.load()};
  stream->make_immortal();
  known_streams.store(cached, std::memory_order_release);
  return stream;
}

}  // namespace

Ref<StreamState> persistent_stream(Device device, std::uintptr_t handle) {
  if (const PersistentStream* cached = find(device, handle)) [[likely]]
    return cached->stream;
  return add_stream(device, handle);
}

void clear_persistent_streams() noexcept {
  const PersistentStream* cached = known_streams.exchange(nullptr);
  while (cached != nullptr) {
    const std::unique_ptr<const PersistentStream> removed(cached);
    removed->stream->make_mortal(removed->holders);
    cached = removed->next;
  }
}

namespace {

// The streams that this thread has set, at most one per device; empty in most threads.
thread_local std::vector<Ref<StreamState>> set_streams;
// Whether this thread ever set one; constant-initialised, so reading it needs no guard.
constinit thread_local bool has_set_streams = false;

auto find_set(Device device) {
  return std::ranges::find_if(
      set_streams, [&](const Ref<StreamState>& stream) { return stream->device() == device; });
}

}  // namespace

Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream) {
  const auto entry = find_set(device);
  if (entry == set_streams.end()) {
    if (stream) {
      set_streams.push_back(std::move(stream));
      has_set_streams = true;
    }
    return nullptr;
  }
  Ref<StreamState> previous = std::exchange(*entry, std::move(stream));
  if (!*entry) set_streams.erase(entry);
  return previous;
}

StreamState& current_stream(Device device) {
  const Device actual = working_device(device);
  if (has_set_streams)
    if (const auto entry = find_set(actual); entry != set_streams.end()) return **entry;
  return default_stream(actual);
}

void wait_for(StreamState& stream, StreamState& other) {
  if (other.device().is_cpu() || same_queue(stream, other)) return;
  if (stream.device().is_cpu())
    other.record(/*timing=*/false)->synchronize();
  else
    stream.wait(*other.record(/*timing=*/false));
}

void order_after_others(StreamState& stream, const StreamUses& uses, bool writes) {
  uses.for_each_to_wait_for(stream, writes, [&](StreamIdentity& other) {
    wait_for(stream, static_cast<StreamState&>(other));
  });
}

namespace {

struct FailedWaits {
  Mutex mutex;
  std::vector<std::pair<Device, std::string>> reasons;
  bool has_lost_one = false;  // there was no memory for a reason: the next wait of any device fails
  std::vector<void (*)(Device)> checks;

  auto find(Device device) {
    return std::ranges::find_if(reasons, [&](const auto& each) { return each.first == device; });
  }
};

// Never destroyed: threads may use it until the process exits.
FailedWaits& failed_waits() {
  static NeverDestroyed<FailedWaits> waits;
  return *waits;
}

}  // namespace

void throw_failed_wait(Device device) {
  FailedWaits& failed = failed_waits();
  std::string reason;
  std::vector<void (*)(Device)> checks;
  bool has_failed = true;
  {
    const std::lock_guard lock(failed.mutex);
    checks = failed.checks;
    const auto entry = failed.find(device);
    if (entry != failed.reasons.end()) {
      reason = std::move(entry->second);
      failed.reasons.erase(entry);
    } else if (std::exchange(failed.has_lost_one, false)) {
      reason = "out of memory";
    } else {
      has_failed = false;
    }
    any_wait_fails.store(!checks.empty() || !failed.reasons.empty() || failed.has_lost_one,
                         std::memory_order_release);
  }
  if (!has_failed) {
    for (const auto check : checks) check(device);
    return;
  }
  fail<CollectiveError>("waiting for ", device,
                        ": collective work was ended before it was complete, "
                        "so results that depend on it are not valid: ",
                        reason);
}

void add_wait_check(void (*check)(Device)) {
  FailedWaits& failed = failed_waits();
  const std::lock_guard lock(failed.mutex);
  if (std::ranges::find(failed.checks, check) != failed.checks.end()) return;
  failed.checks.push_back(check);
  any_wait_fails.store(true, std::memory_order_release);
}

namespace {
constinit thread_local bool is_recording_here = false;
}
bool is_recording() noexcept { return is_recording_here; }
RecordingScope::RecordingScope() noexcept { is_recording_here = true; }
RecordingScope::~RecordingScope() { is_recording_here = false; }

void* allocate_mapped(Device device, std::size_t bytes) {
  return backend_for(device).allocate_mapped(working_device(device).ordinal(), bytes);
}

}  // namespace spanwise::runtime

namespace spanwise {

using runtime::EventState;
using runtime::StreamState;

void fail_next_wait(Device device, std::string reason) noexcept {
  runtime::FailedWaits& failed = runtime::failed_waits();
  const std::lock_guard lock(failed.mutex);
  if (failed.find(device) != failed.reasons.end()) return;
  try {
    failed.reasons.emplace_back(device, std::move(reason));
  } catch (const std::bad_alloc&) {
    failed.has_lost_one = true;
  }
  runtime::any_wait_fails.store(true, std::memory_order_release);
}

void order_use(const Stream& stream, const Array& array, bool writes) {
  runtime::order_use(stream.state(), array.storage(), writes);
}

void order_host_use(const Array& array, bool writes) {
  if (!array.storage() || array.storage().uses().none()) return;
  order_use(Stream::current(cpu), array, writes);
}

Stream::Stream(Ref<StreamState> state) noexcept : state_(std::move(state)) {}

Stream Stream::create(Device device) {
  return Stream(runtime::backend_for(device).create_stream(working_device(device).ordinal()));
}

Stream Stream::create(Device device, int priority) {
  return Stream(runtime::backend_for(device).create_prioritized_stream(
      working_device(device).ordinal(), priority));
}

void CapturedGraph::begin() {
  graph_ = {};
  // Not in the graph: the work that is queued so far has been done by the first replay.
  stream_.wait(Stream::current(device()));
  stream_.state().begin_capture();
}

void CapturedGraph::end() { graph_ = stream_.state().end_capture(); }

void CapturedGraph::replay(const Stream& stream) const {
  if (!graph_)
    fail<ArgumentError>(
        "CapturedGraph.replay: nothing was captured; queue work inside of the "
        "capture, and end it");
  stream.wait(stream_);  // earlier replays, on any stream
  static_cast<runtime::GraphState&>(*graph_).launch(stream.state());
  stream_.wait(stream);  // arrays record that the work is on stream_
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

bool Stream::is_captured() const noexcept { return state().is_captured(); }

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
