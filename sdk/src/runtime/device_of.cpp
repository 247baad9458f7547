// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "runtime/backend.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/runtime/gpu_context.hpp"

namespace spanwise {
namespace {

// The CUDA back end, if there is a GPU. The CPU back end does not track addresses.
runtime::Backend* gpus() {
  runtime::Backend* cuda = runtime::find_backend(DeviceKind::cuda);
  return cuda != nullptr && cuda->device_count() > 0 ? cuda : nullptr;
}

}  // namespace

std::optional<Device> device_of(const void* address) {
  runtime::Backend* cuda = address != nullptr ? gpus() : nullptr;
  return cuda != nullptr ? cuda->device_of(address) : std::nullopt;
}

std::optional<GpuContext> gpu_context_of(const void* address) {
  runtime::Backend* cuda = address != nullptr ? gpus() : nullptr;
  return cuda != nullptr ? cuda->context_of(address) : std::nullopt;
}

std::optional<GpuContext> current_gpu_context() {
  runtime::Backend* cuda = gpus();
  return cuda != nullptr ? cuda->current_context() : std::nullopt;
}

}  // namespace spanwise
