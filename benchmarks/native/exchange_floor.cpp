// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Lower bound of the time to export an array to a library through DLPack's C exchange API: a loop
// that calls the library's managed_to_object for one constant tensor and destroys the object. The
// tensor costs nothing to create or release, so the time is the library's own.

#include <dlfcn.h>

#include <chrono>

#include "../../bridges/dlpack/dlpack_abi.hpp"

namespace {
using namespace spanwise::dlpack;

float elements[12];
std::int64_t shape[] = {12}, strides[] = {1};
}  // namespace

// Seconds per object made through `api`, over `data`, 12 float32 in GPU memory, or over host memory
// if `data` is null. Negative if the library returns an error. The caller holds the GIL.
extern "C" double export_floor(const ExchangeApi* api, void* data, int repeats) {
  using DecRef = void (*)(void*);
  static const auto decref = reinterpret_cast<DecRef>(dlsym(RTLD_DEFAULT, "Py_DecRef"));
  constexpr std::uint8_t dl_float = 2;
  const TensorDevice device{data == nullptr ? DeviceType::cpu : DeviceType::cuda, 0};
  ManagedTensorVersioned borrowed{
      version,
      nullptr,
      [](ManagedTensorVersioned*) {},
      0,
      {data == nullptr ? elements : data, device, 1, {dl_float, 32, 1}, shape, strides, 0}};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    void* object = nullptr;
    if (api->managed_to_object(&borrowed, &object) != 0) return -1;
    decref(object);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}
