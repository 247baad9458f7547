// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "core/storage_free_list.hpp"
#include "core/string_utils.hpp"
#include "runtime/allocation.hpp"
#include "runtime/backend.hpp"
#include "runtime/copy_steps.hpp"
#include "runtime/graph_memory.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/memory.hpp"

// Memory of arrays: its accounting by device, its allocation in the order of a stream, and new
// arrays.
namespace spanwise::runtime {

using core::StorageFreeList;

namespace {

/// Memory accounting of one device, and the source of its new memory. Thread-safe.
class MemoryUse {
 public:
  /// The object of `device`; the CPU's for every device whose memory the host can address.
  static MemoryUse& of(Device device);

  /// Adds `bytes` to the used memory. Throws OutOfMemoryError, without counting, above the limit.
  void reserve(Device device, std::size_t bytes) {
    const auto more = static_cast<std::int64_t>(bytes);
    const std::int64_t now = used_.fetch_add(more, std::memory_order_relaxed) + more;
    if (now > limit_.load(std::memory_order_relaxed)) [[unlikely]]
      refuse(device, more);
  }
  /// Counts an allocation that succeeded, and updates the peak.
  void count() noexcept {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t now = used_.load(std::memory_order_relaxed);
    if (now > peak_.load(std::memory_order_relaxed)) raise_peak(now);
  }
  void release(std::size_t bytes) noexcept {
    used_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }

  /// used, peak, allocations, limit and source.
  MemoryStats stats() const;
  void reset_peak() noexcept;
  void set_limit(std::int64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }

  /// The MemorySource in use; null for the library's pool.
  std::shared_ptr<MemorySource> source() const {
    if (!has_source_.load(std::memory_order_acquire)) [[likely]]
      return nullptr;
    const std::lock_guard lock(mutex_);
    return source_;
  }
  bool has_source() const noexcept { return has_source_.load(std::memory_order_acquire); }
  std::shared_ptr<MemorySource> exchange_source(std::shared_ptr<MemorySource> source);

  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

 private:
  void raise_peak(std::int64_t now) noexcept;
  [[noreturn]] void refuse(Device device, std::int64_t bytes);

  std::atomic<std::int64_t> used_{0}, peak_{0}, allocations_{0}, limit_{no_limit};
  std::atomic<bool> has_source_{false};
  mutable Mutex mutex_;
  std::shared_ptr<MemorySource> source_;
};

MemoryUse& MemoryUse::of(Device device) {
  // Never destroyed: arrays may be released until the process exits.
  static NeverDestroyed<MemoryUse> host;
  if (runs_on_host(device)) [[likely]]
    return *host;
  static NeverDestroyed<Mutex> mutex;
  static NeverDestroyed<std::deque<MemoryUse>> gpus;  // does not move its elements
  static std::atomic<MemoryUse*> first{nullptr};
  if (MemoryUse* use = first.load(std::memory_order_acquire);
      use != nullptr && device.ordinal() == 0)
    return *use;
  const std::lock_guard lock(*mutex);
  while (gpus->size() <= static_cast<std::size_t>(device.ordinal())) gpus->emplace_back();
  first.store(&gpus->front(), std::memory_order_release);
  return (*gpus)[static_cast<std::size_t>(device.ordinal())];
}

void MemoryUse::raise_peak(std::int64_t now) noexcept {
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void MemoryUse::reset_peak() noexcept {
  peak_.store(used_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void MemoryUse::refuse(Device device, std::int64_t bytes) {
  const std::int64_t used = used_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
  fail<OutOfMemoryError>(
      device, ": ", bytes_text(bytes), " (", bytes, " bytes) were requested where arrays hold ",
      bytes_text(used), " and may hold ", bytes_text(limit_.load(std::memory_order_relaxed)),
      " (limit_memory; in Python sw.memory.pool().limit). Drop arrays, or raise the limit");
}

MemoryStats MemoryUse::stats() const {
  MemoryStats stats;
  stats.used = used_.load(std::memory_order_relaxed);
  stats.peak = peak_.load(std::memory_order_relaxed);
  stats.allocations = allocations_.load(std::memory_order_relaxed);
  if (const std::int64_t limit = limit_.load(std::memory_order_relaxed); limit != no_limit)
    stats.limit = limit;
  const std::shared_ptr<MemorySource> used_source = source();
  stats.source = used_source ? used_source->name() : "pool";
  return stats;
}

std::shared_ptr<MemorySource> MemoryUse::exchange_source(std::shared_ptr<MemorySource> source) {
  const std::lock_guard lock(mutex_);
  has_source_.store(source != nullptr, std::memory_order_release);
  return std::exchange(source_, std::move(source));
}

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

// CPU memory for the result of a copy from device `source`: pinned where that makes the copy
// faster.
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

// As allocate_on, filled with zeros; an empty Storage where the caller has to fill.
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

}  // namespace spanwise::runtime

namespace spanwise {
namespace {

// working_device(device); throws DeviceError where it does not exist.
Device existing_device(Device device) {
  runtime::backend_for(device);
  return working_device(device);
}

}  // namespace

MemorySource::~MemorySource() = default;

MemoryStats memory_stats(Device device) {
  device = existing_device(device);
  // Memory cached by this thread's free list counts as used until it is dropped.
  if (device.is_cpu()) core::StorageFreeList::drop();
  MemoryStats stats = runtime::MemoryUse::of(device).stats();
  const runtime::MemoryInfo info = runtime::backend_for(device).memory(device.ordinal());
  stats.held = info.held;
  stats.free = info.free;
  stats.total = info.total;
  return stats;
}

void reset_peak_memory(Device device) {
  runtime::MemoryUse::of(existing_device(device)).reset_peak();
}

void trim_memory(Device device) {
  device = existing_device(device);
  if (device.is_cpu()) core::StorageFreeList::drop();
  runtime::collect_graph_memory();
  runtime::backend_for(device).trim(device.ordinal());
}

void limit_memory(Device device, std::optional<std::int64_t> bytes) {
  if (bytes && *bytes < 0)
    fail<ArgumentError>("limit_memory: expected bytes >= 0 or nothing, got ", bytes.value_or(0));
  runtime::MemoryUse::of(existing_device(device))
      .set_limit(bytes.value_or(runtime::MemoryUse::no_limit));
}

std::shared_ptr<MemorySource> use_memory_source(Device device,
                                                std::shared_ptr<MemorySource> source) {
  return runtime::MemoryUse::of(existing_device(device)).exchange_source(std::move(source));
}

Storage allocate(std::size_t bytes, Device device) {
  if (working_device(device) != device)
    fail<DeviceError>("allocate: expected cpu or cuda:<ordinal>, got ", device,
                      ", whose memory other libraries allocate and Spanwise can only import");
  if (device == cpu && !runtime::MemoryUse::of(cpu).has_source())
    if (Storage cached = core::StorageFreeList::take(bytes)) return cached;
  return runtime::allocate_on(runtime::current_stream(device), bytes);
}

namespace {

std::size_t bytes_of(const Layout& layout, DType dtype) {
  std::int64_t bytes;
  if (__builtin_mul_overflow(layout.size(), std::int64_t{dtype.itemsize()}, &bytes))
    fail<LayoutError>("empty: shape ", layout.shape, " of ", dtype,
                      " has too many bytes for 63 bits");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Array empty(const Shape& shape, DType dtype, Device device) {
  return empty_in(Layout::row_major(shape), dtype, device);
}

Array empty_in(Layout layout, DType dtype, Device device) {
  const std::size_t bytes = bytes_of(layout, dtype);
  return Array(Array::Inside{}, allocate(bytes, device), std::move(layout), dtype);
}

Array zeros(const Shape& shape, DType dtype, Device device) {
  Layout layout = Layout::row_major(shape);
  const std::size_t bytes = bytes_of(layout, dtype);
  constexpr std::size_t memset_bytes = 1 << 16;  // up to this, memset is faster than the back end
  Storage storage;
  if (device.is_cpu() && bytes <= memset_bytes) {
    storage = allocate(bytes, device);
    if (bytes > 0) std::memset(storage.data(), 0, bytes);
  } else if (bytes != 0 && working_device(device) == device) {
    storage = runtime::allocate_zeroed_on(runtime::current_stream(device), bytes);
  }
  if (!storage) {
    storage = allocate(bytes, device);
    // Zero is all bits zero in every dtype, also in those that are not computable.
    fill(Array(storage, Layout::row_major({static_cast<std::int64_t>(bytes)}), uint8),
         Scalar(std::uint8_t{0}));
  }
  return Array(std::move(storage), std::move(layout), dtype);
}

Array full(const Shape& shape, const Scalar& value, DType dtype, Device device) {
  const Scalar element = value.cast(dtype);
  Array array = empty(shape, dtype, device);
  fill(array, element);
  return array;
}

Array empty_like(const Array& like) {
  return runtime::empty_like(like, like.dtype(), working_device(like.device()));
}

Array runtime::empty_like(const Array& like, DType dtype, Device device) {
  return empty_in(like.layout().packed(like.shape()), dtype, device);
}

Array runtime::empty_on_host(const Array& source, DType dtype) {
  Layout layout = source.layout().packed(source.shape());
  const std::size_t bytes = bytes_of(layout, dtype);
  return Array(allocate_pinned(source.device(), bytes), std::move(layout), dtype);
}

}  // namespace spanwise
