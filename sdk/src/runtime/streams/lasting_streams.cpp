// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams/lasting_streams.hpp"

#include <atomic>
#include <memory>
#include <mutex>

#include "spanwise/core/fork.hpp"

namespace spanwise::runtime {
namespace {

// A stream of the cache.
struct LastingStream {
  Device device;
  std::uintptr_t handle;
  Ref<StreamState> stream;
  std::int64_t holders;  // its reference count, this one included, when stay() was called
  const LastingStream* next;
};

// A linked list, since programs use few streams. Entries are only added, so it is read without a
// lock.
constinit std::atomic<const LastingStream*> known_streams{nullptr};

const LastingStream* find(Device device, std::uintptr_t handle) noexcept {
  const LastingStream* cached = known_streams.load(std::memory_order_acquire);
  while (cached != nullptr && (cached->handle != handle || cached->device != device))
    cached = cached->next;
  return cached;
}

Ref<StreamState> add_stream(Device device, std::uintptr_t handle) {
  constexpr std::uintptr_t per_thread = 2;
  Ref<StreamState> stream = backend_for(device).foreign_stream(device.ordinal(), handle);
  if (handle == per_thread) return stream;
  static auto& mutex = *new Mutex;
  const std::lock_guard lock(mutex);
  // Another thread may have added it meanwhile.
  if (const LastingStream* cached = find(device, handle)) return cached->stream;
  // The caller's reference is not counted, since the stream is immortal from here on.
  auto cached = std::make_unique<LastingStream>(device, handle, stream, stream->use_count(),
                                                known_streams.load());
  stream->stay();
  known_streams.store(cached.release(), std::memory_order_release);
  return stream;
}

}  // namespace

Ref<StreamState> lasting_stream(Device device, std::uintptr_t handle) {
  if (const LastingStream* cached = find(device, handle)) [[likely]]
    return cached->stream;
  return add_stream(device, handle);
}

void forget_lasting_streams() noexcept {
  const LastingStream* cached = known_streams.exchange(nullptr);
  while (cached != nullptr) {
    const std::unique_ptr<const LastingStream> removed(cached);
    removed->stream->stay_no_longer(removed->holders);
    cached = removed->next;
  }
}

}  // namespace spanwise::runtime
