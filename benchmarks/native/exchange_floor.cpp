// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Lower bound of the export of an array through DLPack's C exchange API: a loop in C in which the
// library creates and destroys an object around existing memory. The tensor that it gets is made
// once and needs no release.

#include <dlfcn.h>

#include <chrono>

#include "../../bridges/dlpack/dlpack_abi.hpp"

namespace {
using namespace spanwise::dlpack;

float elements[12];
std::int64_t shape[] = {12}, strides[] = {1};
}  // namespace

// Seconds for one object of the type with the table `api`, around GPU memory at `data`, or host
// memory if that is null; negative if the library refuses. The caller holds the GIL.
extern "C" double floor_out(const ExchangeApi* api, void* data, int repeats) {
  using Drop = void (*)(void*);
  static const auto drop = reinterpret_cast<Drop>(dlsym(RTLD_DEFAULT, "Py_DecRef"));
  const TensorDevice device{data == nullptr ? DeviceType::cpu : DeviceType::cuda, 0};
  ManagedTensorVersioned borrowed{
      version,
      nullptr,
      [](ManagedTensorVersioned*) {},
      0,
      {data == nullptr ? elements : data, device, 1, {2, 32, 1}, shape, strides, 0}};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    void* object = nullptr;
    if (api->managed_to_object(&borrowed, &object) != 0) return -1;
    drop(object);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}
