// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocation.hpp"

#include "core/kept_storages.hpp"
#include "runtime/ordering.hpp"
#include "runtime/registry.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

namespace spanwise {
namespace runtime {

using core::KeptStorages;

namespace {

// The home stream comes after every stream that has work queued on the bytes.
void gather(StreamState& home, const StreamUses& uses) noexcept {
  if (uses.is_only_user(home)) return;
  try {
    for (const Ref<StreamIdentity>& other : uses.all())
      wait_for(home, static_cast<StreamState&>(*other));
  } catch (...) {
    // An event failed, so the device is in a state where only its end is sure.
    try {
      if (Backend* backend = find_backend(home.device().kind()))
        backend->synchronize(home.device().ordinal());
    } catch (...) {
      // The error is the device's and will meet whoever waits for it next; memory still goes back.
      return;
    }
  }
}

// `context` is the home stream, of which the storage holds one reference.
void give_back(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  auto& home = *static_cast<StreamState*>(context);
  gather(home, uses);
  if (Backend* backend = find_backend(home.device().kind()))
    backend->deallocate(home.device().ordinal(), data, bytes, home);
  home.release();
}

// The host's work is done when it is queued, so its memory waits for no stream and holds none.
void give_back_to_host(void*, void* data, std::size_t bytes, StreamUses&) noexcept {
  if (Backend* backend = find_backend(DeviceKind::cpu))
    backend->deallocate(cpu.ordinal(), data, bytes, default_stream(cpu));
}

Storage owned_by(StreamState& stream, void* data, std::size_t bytes) {
  const Device device = stream.device();
  if (device.is_cpu()) return Storage::adopt(data, bytes, device, give_back_to_host, nullptr);
  stream.add_ref();
  Storage storage = Storage::adopt(data, bytes, device, give_back, &stream);
  // The memory exists on the home stream only, until another one waits for it.
  storage.uses().record(stream, /*writes=*/true);
  return storage;
}

}  // namespace

Storage allocate_on(StreamState& stream, std::size_t bytes) {
  const Device device = stream.device();
  if (bytes == 0) return Storage::adopt(nullptr, 0, device, nullptr, nullptr);
  if (device == cpu && bytes <= KeptStorages::most_bytes) {
    void* data = backend_for(cpu).allocate(cpu.ordinal(), KeptStorages::room_for(bytes), stream);
    return KeptStorages::adopt(data, bytes, give_back_to_host, nullptr);
  }
  return owned_by(stream, backend_for(device).allocate(device.ordinal(), bytes, stream), bytes);
}

Storage allocate_zeroed_on(StreamState& stream, std::size_t bytes) {
  const Device device = stream.device();
  void* data = backend_for(device).allocate_zeroed(device.ordinal(), bytes, stream);
  return data != nullptr ? owned_by(stream, data, bytes) : Storage{};
}

}  // namespace runtime

Storage allocate(std::size_t bytes, Device device) {
  require<DeviceError>(runtime::execution_device(device) == device, "allocate: ", device,
                       " memory is made by its own library and "
                       "can be adopted here; expected cpu or cuda:<ordinal>");
  if (device == cpu)
    if (Storage kept = core::KeptStorages::take(bytes)) return kept;
  return runtime::allocate_on(runtime::current_stream(device), bytes);
}

}  // namespace spanwise
