// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/allocation.hpp"

#include <utility>

#include "core/storage_free_list.hpp"
#include "runtime/memory/graph_memory.hpp"
#include "runtime/memory/memory_use.hpp"
#include "runtime/registry.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace runtime {

using core::StorageFreeList;

namespace {

// `context` is the stream that the memory was allocated on: the producer of its uses.
void deallocate_block(void* context, void* data, std::size_t bytes, StreamUses&) noexcept {
  auto& producer = *static_cast<StreamState*>(context);
  const Device device = producer.device();
  if (Backend* backend = find_backend(device.kind()))
    backend->deallocate(device.ordinal(), data, bytes, producer);
  MemoryUse::of(device).release(bytes);
}

// CPU work is complete when a call returns, so CPU memory has no producer and waits for no stream.
void deallocate_host_block(void*, void* data, std::size_t bytes, StreamUses&) noexcept {
  if (Backend* backend = find_backend(DeviceKind::cpu))
    backend->deallocate(cpu.ordinal(), data, bytes, default_stream(cpu));
  MemoryUse::of(cpu).release(bytes);
}

// Records `stream` as the producer: other streams wait for it, and the memory is freed on it.
// During capture, the graph may use the memory at each launch.
Storage with_producer(Storage storage, StreamState& stream, bool is_recorded) {
  storage.uses().set_producer(Ref<StreamState>(&stream));
  if (is_recorded) [[unlikely]]
    record_graph_allocation(stream, storage.data());
  return storage;
}

Storage owned_by(StreamState& stream, void* data, std::size_t bytes, bool is_recorded) {
  const Device device = stream.device();
  if (device.is_cpu()) return Storage::adopt(data, bytes, device, deallocate_host_block, nullptr);
  return with_producer(Storage::adopt(data, bytes, device, deallocate_block, &stream), stream,
                       is_recorded);
}

// Counts bytes as used; the destructor subtracts them again unless keep() was called.
class MemoryReservation {
 public:
  MemoryReservation(MemoryUse& use, Device device, std::size_t bytes) : use_(use), bytes_(bytes) {
    use_.reserve(device, bytes);
  }
  ~MemoryReservation() {
    if (is_kept_)
      use_.count();
    else
      use_.release(bytes_);
  }
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;
  // From here on the storage's release function subtracts the bytes.
  void keep() noexcept { is_kept_ = true; }

 private:
  MemoryUse& use_;
  std::size_t bytes_;
  bool is_kept_ = false;
};

// A block of a MemorySource, with the arguments of its deallocate().
struct SourceBlock {
  std::shared_ptr<MemorySource> source;
  MemorySource::Block block;
  Device device;
};

void return_to_source(void* context, void*, std::size_t bytes, StreamUses&) noexcept {
  const std::unique_ptr<SourceBlock> owned(static_cast<SourceBlock*>(context));
  owned->source->deallocate(owned->device, owned->block, bytes);
  MemoryUse::of(owned->device).release(bytes);
}

Storage allocate_from(std::shared_ptr<MemorySource> source, StreamState& stream, std::size_t bytes,
                      bool is_recorded) {
  const Device device = stream.device();
  auto owned = std::make_unique<SourceBlock>();
  owned->device = device;
  MemoryReservation reservation(MemoryUse::of(device), device, bytes);
  backend_for(device).run_in_relaxed_capture_mode(
      [&] { owned->block = source->allocate(device, bytes, stream.handle()); });
  owned->source = std::move(source);
  reservation.keep();
  void* data = owned->block.data;
  Storage storage = Storage::adopt(data, bytes, device, return_to_source, owned.release());
  return device.is_cpu() ? storage : with_producer(std::move(storage), stream, is_recorded);
}

// `context` is the ordinal of the GPU that copies into the memory.
void release_pinned(void* context, void* data, std::size_t bytes, StreamUses&) noexcept {
  if (Backend* backend = find_backend(DeviceKind::cuda))
    backend->release_pinned(static_cast<int>(reinterpret_cast<std::intptr_t>(context)), data,
                            bytes);
  MemoryUse::of(cpu).release(bytes);
}

}  // namespace

Storage allocate_on(StreamState& stream, std::size_t bytes) {
  const Device device = stream.device();
  if (bytes == 0) return Storage::adopt(nullptr, 0, device, nullptr, nullptr);
  collect_graph_memory();
  const bool is_recorded = !device.is_cpu() && stream.is_captured();
  MemoryUse& use = MemoryUse::of(device);
  if (auto source = use.source()) [[unlikely]]
    return allocate_from(std::move(source), stream, bytes, is_recorded);
  const bool uses_free_list = device == cpu && bytes <= StorageFreeList::max_bytes;
  const std::size_t capacity = uses_free_list ? StorageFreeList::capacity_for(bytes) : bytes;
  MemoryReservation reservation(use, device, capacity);
  Backend& backend = *find_backend(device.kind());  // not null: it made the stream
  void* data = is_recorded ? backend.allocate_outside_graph(device.ordinal(), capacity, stream)
                           : backend.allocate(device.ordinal(), capacity, stream);
  reservation.keep();
  if (uses_free_list) return StorageFreeList::adopt(data, bytes, deallocate_host_block, nullptr);
  return owned_by(stream, data, bytes, is_recorded);
}

Storage allocate_pinned(Device source, std::size_t bytes) {
  if (runs_on_host(source) || MemoryUse::of(cpu).has_source()) return allocate(bytes, cpu);
  Backend& backend = backend_for(source);
  void* data = backend.allocate_pinned(source.ordinal(), bytes);
  if (data == nullptr) return allocate(bytes, cpu);
  try {
    MemoryReservation(MemoryUse::of(cpu), cpu, bytes).keep();
  } catch (...) {
    backend.release_pinned(source.ordinal(), data, bytes);
    throw;
  }
  const auto ordinal = static_cast<std::intptr_t>(source.ordinal());
  return Storage::adopt(data, bytes, cpu, release_pinned, reinterpret_cast<void*>(ordinal));
}

Storage allocate_zeroed_on(StreamState& stream, std::size_t bytes) {
  const Device device = stream.device();
  MemoryUse& use = MemoryUse::of(device);
  if (bytes == 0 || use.has_source()) return {};
  MemoryReservation reservation(use, device, bytes);
  void* data = backend_for(device).allocate_zeroed(device.ordinal(), bytes, stream);
  if (data == nullptr) return {};
  reservation.keep();
  return owned_by(stream, data, bytes, /*is_recorded=*/false);
}

}  // namespace runtime

Storage allocate(std::size_t bytes, Device device) {
  if (working_device(device) != device)
    fail<DeviceError>("allocate: expected cpu or cuda:<ordinal>, got ", device,
                      ", whose memory other libraries allocate and Spanwise can only import");
  if (device == cpu && !runtime::MemoryUse::of(cpu).has_source())
    if (Storage cached = core::StorageFreeList::take(bytes)) return cached;
  return runtime::allocate_on(runtime::current_stream(device), bytes);
}

}  // namespace spanwise
