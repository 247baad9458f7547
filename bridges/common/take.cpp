// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "byte_extent.hpp"
#include "event_guarded_owner.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {
namespace {

Device device_for(const ForeignMemory& memory) {
  switch (memory.device.kind()) {
    case DeviceKind::cpu:
    case DeviceKind::cuda_host:  // the CPU can access it directly
      return cpu;
    case DeviceKind::cuda:
      return memory.device;
    case DeviceKind::cuda_managed:
      break;
  }
  // Producers report device 0 for all managed memory, so ask the driver.
  const auto producer = device_of(memory.data);
  return Device(DeviceKind::cuda, producer ? producer->ordinal() : memory.device.ordinal());
}

// Makes the current stream wait for the producer's queued work.
void order_after_producer(const Array& array, const ForeignView& view) {
  if (array.size() == 0) return;
  const Stream current = Stream::current(array.device());
  for (const std::uintptr_t handle : view.streams) {
    if (handle != current.handle()) current.wait(Stream::foreign(array.device(), handle));
  }
  order_use(current, array, true);
}

Array adopt(ForeignView& view, const bridges::ByteExtent& covered, Layout layout, DType dtype) {
  const ForeignMemory& memory = view.memory;
  const Device device = device_for(memory);
  Ref<StreamIdentity> producer;
  if (!memory.device.is_cpu()) [[unlikely]] {
    collect_released();
    if (view.persistent_streams && view.streams.size() == 1 && device.is_cuda())
      producer = Stream::persistent(device, view.streams[0]).take_identity();
    else
      view.owner = EventGuardedOwner::around(std::move(view.owner));
  }
  Array array(std::move(view.owner).adopt(covered.lowest, covered.bytes, device, memory.readonly),
              std::move(layout), dtype);
  // The first use of the array waits for the producer's stream, which lives as long as the process.
  if (producer)
    array.storage().uses().set_producer(std::move(producer));
  else if (!device.is_cpu())
    order_after_producer(array, view);
  return array;
}

}  // namespace

void ForeignOwner::release_now() noexcept {
  StreamUses none;
  release_(context_, nullptr, 0, none);
}

Storage ForeignOwner::adopt(void* data, std::size_t bytes, Device device, bool readonly) && {
  // Storage::adopt() calls the release function itself if it fails.
  return Storage::adopt(data, bytes, device, std::exchange(release_, nullptr),
                        std::exchange(context_, nullptr), readonly);
}

void* foreign_context(const Storage& storage, ReleaseFn release) noexcept {
  if (storage.release_fn() == release) return storage.context();
  return EventGuardedOwner::context(storage, release);
}

std::optional<Array> share(ForeignView& view) {
  if (view.array) return view.array;
  const bridges::ByteExtent covered = bridges::byte_extent_of(view.memory);
  if (bridges::find_blocker(view.memory, covered)) return std::nullopt;
  return adopt(view, covered, bridges::layout_of(view.memory, covered), view.memory.dtype);
}

Array share_bytes(ForeignView& view) {
  const bridges::ByteExtent covered = bridges::byte_extent_of(view.memory);
  return adopt(view, covered, bridges::byte_layout_of(view.memory, covered), uint8);
}

Array gather(const Array& bytes, const ForeignMemory& memory) {
  Array result = empty(memory.shape, memory.dtype, bytes.device());
  copy(bytes, Array(result.storage(), Layout::row_major(bridges::byte_shape_of(memory)), uint8));
  return result;
}

Array take(ForeignView& view, CopyMode mode, std::string_view prefix) {
  const auto refuse = [&](ShareBlocker blocker) {
    if (mode == CopyMode::never) throw SharingError(prefix, std::move(blocker));
  };
  if (std::optional<Array> shared = share(view)) {
    if (view.copied || view.created) {
      refuse({"the producer could only give a copy", "allow a copy (copy=None, copyif=True)"});
      return *std::move(shared);
    }
    if (mode != CopyMode::always) return *std::move(shared);
    view.copied = true;
    return copy(*shared);
  }
  refuse(*find_share_blocker(view.memory));
  view.copied = true;
  // Declared before the lock is released, and so destroyed with it: the owner may be an object of
  // the interpreter.
  const Array bytes = share_bytes(view);
  const InterpreterUnlocked unlocked;
  return gather(bytes, view.memory);
}

}  // namespace spanwise
