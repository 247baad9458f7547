// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory/pointer.hpp"

#include <algorithm>
#include <array>

#include "backends/cuda/context.hpp"
#include "backends/cuda/driver.hpp"

namespace spanwise::cuda {
namespace {

struct PointerAttributes {
  Device device;
  int ordinal = 0;  ///< -1: memory that is not tied to a device
  CUcontext context = nullptr;
};

// Queries all attributes in one call, because each call takes as long as half an import. For an
// unknown address or a missing context, cuPointerGetAttributes returns zeros instead of an error.
std::optional<PointerAttributes> query_attributes(const void* address) {
  if (!usable_after_fork() || !driver_status().usable) return std::nullopt;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT};
  unsigned memory_type = 0, is_managed = 0;
  PointerAttributes pointer;
  std::array<void*, 4> values{&memory_type, &is_managed, &pointer.ordinal,
                              static_cast<void*>(&pointer.context)};
  const CUresult code = driver_status().api.pointer_get_attributes(
      static_cast<unsigned>(attributes.size()), attributes.data(), values.data(),
      reinterpret_cast<CUdeviceptr>(address));
  if (code != CUDA_SUCCESS || memory_type == 0) return std::nullopt;
  DeviceKind kind = DeviceKind::cuda;
  if (memory_type == CU_MEMORYTYPE_HOST) kind = DeviceKind::cuda_host;
  if (is_managed != 0) kind = DeviceKind::cuda_managed;
  pointer.device = Device(kind, std::max(pointer.ordinal, 0));
  return pointer;
}

// Creates the device's DeviceContext, which retains the primary context, if necessary; the caller
// will use it next.
GpuContext make_gpu_context(CUcontext context, Device device) {
  return {device, context == DeviceContext::of(device.ordinal()).handle};
}

}  // namespace

std::optional<Device> device_of(const void* address) {
  const std::optional<PointerAttributes> pointer = query_attributes(address);
  return pointer ? std::optional(pointer->device) : std::nullopt;
}

std::optional<GpuContext> context_of(const void* address) {
  const std::optional<PointerAttributes> pointer = query_attributes(address);
  if (!pointer || pointer->context == nullptr || pointer->ordinal < 0) return std::nullopt;
  return make_gpu_context(pointer->context, pointer->device);
}

std::optional<GpuContext> current_context() {
  if (!usable_after_fork() || !driver_status().usable) return std::nullopt;
  const DriverApi& api = driver_status().api;
  CUcontext context = nullptr;
  CUdevice device = 0;
  if (api.ctx_get_current(&context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  if (api.ctx_get_device(&device) != CUDA_SUCCESS) return std::nullopt;
  return make_gpu_context(context, Device(DeviceKind::cuda, device));
}

}  // namespace spanwise::cuda
