// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/memory_use.hpp"

#include <deque>
#include <utility>

#include "core/storage_free_list.hpp"
#include "core/string_utils.hpp"
#include "runtime/backend.hpp"
#include "runtime/memory/graph_memory.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace runtime {

MemoryUse& MemoryUse::of(Device device) {
  // Never destroyed: arrays may be released until the process exits.
  static auto& host = *new MemoryUse;
  if (runs_on_host(device)) [[likely]]
    return host;
  static auto& mutex = *new Mutex;
  static auto& gpus = *new std::deque<MemoryUse>;  // does not move its elements
  static std::atomic<MemoryUse*> first{nullptr};
  if (MemoryUse* use = first.load(std::memory_order_acquire);
      use != nullptr && device.ordinal() == 0)
    return *use;
  const std::lock_guard lock(mutex);
  while (gpus.size() <= static_cast<std::size_t>(device.ordinal())) gpus.emplace_back();
  first.store(&gpus.front(), std::memory_order_release);
  return gpus[static_cast<std::size_t>(device.ordinal())];
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

}  // namespace runtime

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

}  // namespace spanwise
