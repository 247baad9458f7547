// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <atomic>
#include <span>
#include <string>

#include "spanwise/core/error.hpp"

#if CUDA_VERSION < 12040
#error "Spanwise needs the headers of CUDA 12.4 or newer: cuKernelGetParamInfo came with it"
#endif

/// The CUDA driver API, loaded at run time: Spanwise does not link against libcuda, so one build
/// works with and without a driver.
namespace spanwise::cuda {

/// X(member of DriverApi, the driver's function, its API version). The version selects both the
/// prototype (PFN_<function>_v<version> of cudaTypedefs.h) and the entry point (cuGetProcAddress),
/// so that they match. All exist in oldest_driver: none is optional.
#define SW_CUDA_DRIVER_FUNCTIONS(X)                                         \
  X(get_error_name, cuGetErrorName, 6000)                                   \
  X(get_error_string, cuGetErrorString, 6000)                               \
  X(init, cuInit, 2000)                                                     \
  X(device_get_count, cuDeviceGetCount, 2000)                               \
  X(device_get, cuDeviceGet, 2000)                                          \
  X(device_get_name, cuDeviceGetName, 2000)                                 \
  X(device_total_mem, cuDeviceTotalMem, 3020)                               \
  X(device_get_attribute, cuDeviceGetAttribute, 2000)                       \
  X(device_can_access_peer, cuDeviceCanAccessPeer, 4000)                    \
  X(device_primary_ctx_retain, cuDevicePrimaryCtxRetain, 7000)              \
  X(ctx_get_current, cuCtxGetCurrent, 4000)                                 \
  X(ctx_set_current, cuCtxSetCurrent, 4000)                                 \
  X(ctx_push_current, cuCtxPushCurrent, 4000)                               \
  X(ctx_pop_current, cuCtxPopCurrent, 4000)                                 \
  X(ctx_get_device, cuCtxGetDevice, 2000)                                   \
  X(ctx_synchronize, cuCtxSynchronize, 2000)                                \
  X(mem_get_info, cuMemGetInfo, 3020)                                       \
  X(mem_alloc, cuMemAlloc, 3020)                                            \
  X(mem_free, cuMemFree, 3020)                                              \
  X(mem_host_alloc, cuMemHostAlloc, 2020)                                   \
  X(mem_free_host, cuMemFreeHost, 2000)                                     \
  X(mem_alloc_from_pool_async, cuMemAllocFromPoolAsync, 11020)              \
  X(mem_free_async, cuMemFreeAsync, 11020)                                  \
  X(mem_pool_create, cuMemPoolCreate, 11020)                                \
  X(mem_pool_destroy, cuMemPoolDestroy, 11020)                              \
  X(mem_pool_set_attribute, cuMemPoolSetAttribute, 11020)                   \
  X(mem_pool_get_attribute, cuMemPoolGetAttribute, 11020)                   \
  X(mem_pool_set_access, cuMemPoolSetAccess, 11020)                         \
  X(mem_pool_trim_to, cuMemPoolTrimTo, 11020)                               \
  X(pointer_get_attributes, cuPointerGetAttributes, 7000)                   \
  X(memcpy_htod_async, cuMemcpyHtoDAsync, 3020)                             \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, 3020)                             \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync, 3020)                             \
  X(memcpy_peer_async, cuMemcpyPeerAsync, 4000)                             \
  X(memset_d8_async, cuMemsetD8Async, 3020)                                 \
  X(memset_d16_async, cuMemsetD16Async, 3020)                               \
  X(memset_d32_async, cuMemsetD32Async, 3020)                               \
  X(stream_create, cuStreamCreate, 2000)                                    \
  X(stream_create_with_priority, cuStreamCreateWithPriority, 5050)          \
  X(stream_destroy, cuStreamDestroy, 4000)                                  \
  X(stream_synchronize, cuStreamSynchronize, 2000)                          \
  X(stream_query, cuStreamQuery, 2000)                                      \
  X(stream_wait_event, cuStreamWaitEvent, 3020)                             \
  X(stream_get_ctx, cuStreamGetCtx, 9020)                                   \
  X(stream_is_capturing, cuStreamIsCapturing, 10000)                        \
  X(stream_begin_capture, cuStreamBeginCapture, 10010)                      \
  X(stream_end_capture, cuStreamEndCapture, 10000)                          \
  X(stream_get_capture_info, cuStreamGetCaptureInfo, 11030)                 \
  X(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, 10010) \
  X(event_create, cuEventCreate, 2000)                                      \
  X(event_destroy, cuEventDestroy, 4000)                                    \
  X(event_record, cuEventRecord, 2000)                                      \
  X(event_query, cuEventQuery, 2000)                                        \
  X(event_synchronize, cuEventSynchronize, 2000)                            \
  X(event_elapsed_time, cuEventElapsedTime, 2000)                           \
  X(library_load_data, cuLibraryLoadData, 12000)                            \
  X(library_unload, cuLibraryUnload, 12000)                                 \
  X(library_get_kernel, cuLibraryGetKernel, 12000)                          \
  X(library_get_module, cuLibraryGetModule, 12000)                          \
  X(library_get_global, cuLibraryGetGlobal, 12000)                          \
  X(library_get_managed, cuLibraryGetManaged, 12000)                        \
  X(kernel_get_function, cuKernelGetFunction, 12000)                        \
  X(kernel_get_param_info, cuKernelGetParamInfo, 12040)                     \
  X(kernel_get_name, cuKernelGetName, 12030)                                \
  X(library_get_kernel_count, cuLibraryGetKernelCount, 12040)               \
  X(library_enumerate_kernels, cuLibraryEnumerateKernels, 12040)            \
  X(link_create, cuLinkCreate, 6050)                                        \
  X(link_add_data, cuLinkAddData, 6050)                                     \
  X(link_complete, cuLinkComplete, 5050)                                    \
  X(link_destroy, cuLinkDestroy, 5050)                                      \
  X(func_get_attribute, cuFuncGetAttribute, 2020)                           \
  X(func_set_attribute, cuFuncSetAttribute, 9000)                           \
  X(launch_kernel, cuLaunchKernel, 4000)                                    \
  X(launch_kernel_ex, cuLaunchKernelEx, 11060)                              \
  X(graph_create, cuGraphCreate, 10000)                                     \
  X(graph_destroy, cuGraphDestroy, 10000)                                   \
  X(graph_add_kernel, cuGraphAddKernelNode, 12000)                          \
  X(graph_add_memcpy, cuGraphAddMemcpyNode, 10000)                          \
  X(graph_add_dependencies, cuGraphAddDependencies, 10000)                  \
  X(graph_get_root_nodes, cuGraphGetRootNodes, 10000)                       \
  X(graph_instantiate, cuGraphInstantiateWithFlags, 11040)                  \
  X(graph_exec_destroy, cuGraphExecDestroy, 10000)                          \
  X(graph_exec_set_kernel, cuGraphExecKernelNodeSetParams, 12000)           \
  X(graph_exec_set_memcpy, cuGraphExecMemcpyNodeSetParams, 10020)           \
  X(graph_launch, cuGraphLaunch, 10000)                                     \
  X(graph_retain_user_object, cuGraphRetainUserObject, 11030)               \
  X(user_object_create, cuUserObjectCreate, 11030)                          \
  X(user_object_release, cuUserObjectRelease, 11030)                        \
  X(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)

/// The lowest driver that has all of the above, as cuDriverGetVersion counts: 12.4.
inline constexpr int oldest_driver = 12040;

struct DriverApi {
#define SW_DECLARE(name, function, version) PFN_##function##_v##version name = nullptr;
  SW_CUDA_DRIVER_FUNCTIONS(SW_DECLARE)
#undef SW_DECLARE
};

/// The result of loading the driver.
struct DriverStatus {
  DriverApi api;
  bool usable = false;
  int version = 0;  ///< 13000 for 13.0; 0 if there is no driver
  int device_count = 0;
  std::string unavailable_reason;  ///< one sentence; "" if there are devices
};

/// Loads the first of `file_names` that exists, fills the table and initializes the driver. Does
/// not throw if the driver is missing or unusable: unavailable_reason then gives the reason.
DriverStatus load_driver(std::span<const char* const> file_names);

/// The process's driver, loaded at the first call.
const DriverStatus& driver_status();

/// The function table. Throws DeviceError with unavailable_reason if there is no driver or no
/// device, and in a process that was forked after the driver was initialized.
const DriverApi& driver();

/// Set in a child process that was forked after the driver was initialized.
inline std::atomic<bool> forked_after_start{false};
/// False in such a process, where calling CUDA is undefined: destructors then skip driver calls.
inline bool usable_after_fork() noexcept {
  return !forked_after_start.load(std::memory_order_relaxed);
}
/// The error text where usable_after_fork() is false.
std::string fork_error();

/// "13.0" for 13000.
std::string version_text(int version);

/// Throws DeviceError for a failed driver call (OutOfMemoryError for CUDA_ERROR_OUT_OF_MEMORY). The
/// message is `action` (the action and its object, "launching blur on cuda:0"), the driver's
/// description, the name and number of the code, and a remedy if one is known.
[[noreturn]] void fail_driver(const DriverApi& api, CUresult code, const std::string& action);

/// Throws fail_driver()'s error unless `code` is CUDA_SUCCESS. `action` is formatted only then.
template <class... Action>
inline void check(const DriverApi& api, CUresult code, const Action&... action) {
  if (code != CUDA_SUCCESS) [[unlikely]]
    fail_driver(api, code, text(action...));
}

}  // namespace spanwise::cuda
