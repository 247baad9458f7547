// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams/persistent_streams.hpp"

#include <atomic>
#include <memory>
#include <mutex>

#include "spanwise/core/fork.hpp"

namespace spanwise::runtime {
namespace {

// A stream of the cache.
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
  static auto& mutex = *new Mutex;
  const std::lock_guard lock(mutex);
  // Another thread may have added it meanwhile.
  if (const PersistentStream* cached = find(device, handle)) return cached->stream;
  // The caller's reference is not counted, since the stream is immortal from here on.
  auto cached = std::make_unique<PersistentStream>(device, handle, stream, stream->use_count(),
                                                   known_streams.load());
  stream->make_immortal();
  known_streams.store(cached.release(), std::memory_order_release);
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

}  // namespace spanwise::runtime
