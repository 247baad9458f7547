// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams/lasting_streams.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "spanwise/fork.hpp"

namespace spanwise::runtime {
namespace {

struct Known {
  Device device;
  std::uintptr_t handle;
  Ref<StreamState> stream;
  std::int64_t holders;  // its reference count, this one included, when stay() was called
  const Known* next;
};

// A linked list, since programs use few streams. Entries are only added, so it is read without a
// lock.
constinit std::atomic<const Known*> known_streams{nullptr};

const Known* find(Device device, std::uintptr_t handle) noexcept {
  const Known* known = known_streams.load(std::memory_order_acquire);
  while (known != nullptr && (known->handle != handle || known->device != device))
    known = known->next;
  return known;
}

Ref<StreamState> learn(Device device, std::uintptr_t handle) {
  constexpr std::uintptr_t per_thread = 2;
  Ref<StreamState> stream = backend_for(device).foreign_stream(device.ordinal(), handle);
  if (handle == per_thread) return stream;
  static auto& learning = *new Mutex;
  const std::lock_guard lock(learning);
  // Another thread may have added it meanwhile.
  if (const Known* known = find(device, handle)) return known->stream;
  // The caller's reference is not counted, since the stream is immortal from here on.
  auto known =
      std::make_unique<Known>(device, handle, stream, stream->use_count(), known_streams.load());
  stream->stay();
  known_streams.store(known.release(), std::memory_order_release);
  return stream;
}

}  // namespace

Ref<StreamState> lasting_stream(Device device, std::uintptr_t handle) {
  if (const Known* known = find(device, handle)) [[likely]]
    return known->stream;
  return learn(device, handle);
}

void forget_lasting_streams() noexcept {
  const Known* known = known_streams.exchange(nullptr);
  while (known != nullptr) {
    const std::unique_ptr<const Known> gone(known);
    gone->stream->stay_no_longer(gone->holders);
    known = gone->next;
  }
}

}  // namespace spanwise::runtime
