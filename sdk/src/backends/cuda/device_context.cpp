// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/cuda_transfer.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/driver.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {
namespace {

DeviceInfo read_device(int ordinal) {
  const DriverApi& api = driver();
  DeviceInfo info;
  check(api, api.device_get(&info.handle, ordinal), "opening cuda:", ordinal);
  char name[256] = {};
  check(api, api.device_get_name(name, sizeof name - 1, info.handle),
        "reading the name of cuda:", ordinal);
  std::size_t total = 0;
  check(api, api.device_total_mem(&total, info.handle),
        "reading the memory size of cuda:", ordinal);
  const auto get = [&](CUdevice_attribute attribute) {
    int value = 0;
    check(api, api.device_get_attribute(&value, attribute, info.handle), "reading attribute ",
          static_cast<int>(attribute), " of cuda:", ordinal);
    return value;
  };
  info.major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info.minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.has_memory_pools = get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  DeviceProperties& properties = info.properties;
  properties.name = name;
  properties.architecture = text("sm_", info.major, info.minor);
  properties.driver = version_text(driver_status().version);
  properties.total_memory = static_cast<std::int64_t>(total);
  properties.multiprocessors = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  properties.warp_size = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties.max_threads_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties.max_block = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                          get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                          get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  properties.max_grid = {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                         get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                         get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  properties.max_shared_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  properties.max_shared_bytes_optin = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  return info;
}

}  // namespace

const DeviceInfo& device_info(int ordinal) {
  driver();  // throws if there is no driver
  static const auto& all = *new std::vector<DeviceInfo>([] {
    std::vector<DeviceInfo> result;
    for (int i = 0; i < driver_status().device_count; ++i) result.push_back(read_device(i));
    return result;
  }());
  if (ordinal < 0 || ordinal >= static_cast<int>(all.size()))
    fail<DeviceError>("cuda: there is no cuda:", ordinal, "; this process sees ", all.size(),
                      " device", all.size() == 1 ? "" : "s", ", cuda:0",
                      all.size() == 1 ? "" : " and up");
  return all[static_cast<std::size_t>(ordinal)];
}

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
  static NeverDestroyed<Mutex> mutex;
  const std::lock_guard lock(*mutex);
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
