// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_info.hpp"

#include <vector>

#include "backends/cuda/check.hpp"

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

}  // namespace spanwise::cuda
