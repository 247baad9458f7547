// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/pointer.hpp"

#include <array>

#include "backends/cuda/context.hpp"
#include "backends/cuda/driver.hpp"

namespace spanwise::cuda {

std::optional<Device> device_of(const void* address) {
  if (!driver_survives() || !driver_status().usable) return std::nullopt;
  // Asked together, the driver answers for addresses it does not know with zeros instead of an
  // error.
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned memory_type = 0, is_managed = 0;
  int ordinal = 0;
  std::array<void*, 3> values{&memory_type, &is_managed, &ordinal};
  const CUresult code = driver_status().api.pointer_get_attributes(
      static_cast<unsigned>(attributes.size()), attributes.data(), values.data(),
      reinterpret_cast<CUdeviceptr>(address));
  if (code != CUDA_SUCCESS || memory_type == 0) return std::nullopt;
  if (ordinal < 0) ordinal = 0;  // memory of no device in particular
  if (is_managed != 0) return Device(DeviceKind::cuda_managed, ordinal);
  const bool host = memory_type == CU_MEMORYTYPE_HOST;
  return Device(host ? DeviceKind::cuda_host : DeviceKind::cuda, ordinal);
}

namespace {

// Retains the primary context where nobody has yet; we are about to work in it anyway.
GpuContext described(CUcontext context, int ordinal) {
  return {Device(DeviceKind::cuda, ordinal), context == DeviceContext::of(ordinal).handle};
}

}  // namespace

std::optional<GpuContext> context_of(const void* address) {
  if (!driver_survives() || !driver_status().usable) return std::nullopt;
  std::array attributes{CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  CUcontext context = nullptr;
  int ordinal = 0;
  std::array<void*, 2> values{&context, &ordinal};
  const CUresult code = driver_status().api.pointer_get_attributes(
      static_cast<unsigned>(attributes.size()), attributes.data(), values.data(),
      reinterpret_cast<CUdeviceptr>(address));
  if (code != CUDA_SUCCESS || context == nullptr || ordinal < 0) return std::nullopt;
  return described(context, ordinal);
}

std::optional<GpuContext> current_context() {
  if (!driver_survives() || !driver_status().usable) return std::nullopt;
  const DriverApi& api = driver_status().api;
  CUcontext context = nullptr;
  CUdevice device = 0;
  if (api.ctx_get_current(&context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  if (api.ctx_get_device(&device) != CUDA_SUCCESS) return std::nullopt;
  return described(context, device);
}

}  // namespace spanwise::cuda
