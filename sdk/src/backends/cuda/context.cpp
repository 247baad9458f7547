// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/context.hpp"

#include <array>
#include <atomic>
#include <mutex>

#include "backends/cuda/event.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "backends/cuda/memory/memory_pool.hpp"
#include "backends/cuda/memory/pinned_pool.hpp"
#include "backends/cuda/memory/staging.hpp"
#include "backends/cuda/stream.hpp"

namespace spanwise::cuda {
namespace {

CUcontext retain_primary(const DriverApi& api, const DeviceInfo& info, int ordinal) {
  CUcontext context = nullptr;
  check(api, api.device_primary_ctx_retain(&context, info.handle), "starting to use cuda:", ordinal,
        " (", info.properties.name, ')');
  return context;
}

// More slots than a process has devices. The contexts are never destroyed.
constinit std::array<std::atomic<DeviceContext*>, 256> contexts{};

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
  pinned_pool_ = std::make_unique<PinnedPool>(*this);
  launch_tuner_ = std::make_unique<LaunchTuner>();
  default_stream_ = make_default_stream(*this);
  memory_->preallocate();
}

DeviceContext::~DeviceContext() = default;

CUstream DeviceContext::successor_stream() {
  const std::lock_guard lock(successor_mutex_);
  if (successor_stream_ == nullptr) {
    const RelaxedCaptureMode relaxed(api);
    check(api, api.stream_create(&successor_stream_, CU_STREAM_NON_BLOCKING),
          "creating a stream on ", device);
  }
  return successor_stream_;
}

DeviceContext& DeviceContext::of(int ordinal) {
  const auto index = static_cast<std::size_t>(ordinal);  // a negative ordinal becomes out of range
  if (index < contexts.size()) {
    if (DeviceContext* result = contexts[index].load(std::memory_order_acquire)) return *result;
  }
  device_info(ordinal);  // throws if there is no such device
  if (index >= contexts.size())
    fail<DeviceError>("cuda: at most ", contexts.size(), " devices can be used by one process");
  static auto& mutex = *new Mutex;
  const std::lock_guard lock(mutex);
  std::atomic<DeviceContext*>& context = contexts[index];
  if (context.load(std::memory_order_relaxed) == nullptr)
    context.store(new DeviceContext(ordinal), std::memory_order_release);
  return *context.load(std::memory_order_relaxed);
}

void ContextGuard::enter(const DeviceContext& context, CUcontext current) noexcept {
  if (current == nullptr && context.device.ordinal() == 0) {
    code_ = api_.ctx_set_current(context.handle);
    return;
  }
  code_ = api_.ctx_push_current(context.handle);
  pushed_ = code_ == CUDA_SUCCESS;
}

void ContextGuard::refuse(const DeviceContext& context) const {
  if (!usable_after_fork()) fail<DeviceError>("cuda: ", fork_error());
  fail_driver(api_, code_, text("making the primary context of ", context.device, " current"));
}

}  // namespace spanwise::cuda
