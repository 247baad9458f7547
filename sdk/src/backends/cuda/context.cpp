// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/context.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include "backends/cuda/copy_kernels.hpp"
#include "backends/cuda/event.hpp"
#include "backends/cuda/memory_pool.hpp"
#include "backends/cuda/staging.hpp"
#include "backends/cuda/stream.hpp"

namespace spanwise::cuda {
namespace {

CUcontext retain_primary(const DriverApi& api, const DeviceInfo& info, int ordinal) {
  CUcontext context = nullptr;
  check(api, api.device_primary_ctx_retain(&context, info.handle), "starting to use cuda:", ordinal,
        " (", info.properties.name, ')');
  return context;
}

}  // namespace

DeviceContext::DeviceContext(int ordinal)
    : api(driver()),
      info(device_info(ordinal)),
      device(DeviceKind::cuda, ordinal),
      handle(retain_primary(api, info, ordinal)) {
  const ContextGuard guard(*this);
  memory_ = std::make_unique<MemoryPool>(*this);
  events_ = std::make_unique<EventPool>(api);
  staging_ = std::make_unique<StagingArea>(*this);
  copy_kernels_ = std::make_unique<CopyKernels>(*this);
  default_stream_ = make_default_stream(*this);
  memory_->preallocate();
}

DeviceContext::~DeviceContext() = default;

DeviceContext& DeviceContext::of(int ordinal) {
  struct Slot {
    std::mutex making;
    std::atomic<DeviceContext*> context{nullptr};
  };
  device_info(ordinal);  // checks the ordinal
  static std::vector<Slot>& slots =
      *new std::vector<Slot>(static_cast<std::size_t>(driver_status().device_count));
  Slot& slot = slots[static_cast<std::size_t>(ordinal)];
  if (DeviceContext* made = slot.context.load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(slot.making);
  if (slot.context.load(std::memory_order_relaxed) == nullptr) {
    slot.context.store(new DeviceContext(ordinal), std::memory_order_release);
  }
  return *slot.context.load(std::memory_order_relaxed);
}

void ContextGuard::fail(const DeviceContext& context) const {
  require<DeviceError>(driver_survives(), "cuda: ", why_not_after_fork());
  fail_driver(api_, code_, text("making the primary context of ", context.device, " current"));
}

}  // namespace spanwise::cuda
