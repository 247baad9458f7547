// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "backends/cuda/driver.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::runtime {
class StreamState;
}

namespace spanwise::cuda {

/// Constant properties of a device. Reading them needs the driver, but no context on the device.
struct DeviceInfo {
  CUdevice handle = 0;
  int major = 0, minor = 0;       ///< compute capability
  bool has_memory_pools = false;  ///< stream-ordered allocation
  DeviceProperties properties;    ///< free_memory is 0 here: it changes, and needs a context
};

/// Read once per process. Throws DeviceError, with the number of devices, if `ordinal` is out of
/// range.
const DeviceInfo& device_info(int ordinal);

/// A mutex for a few instructions on the path of every small call, in a third of the time of a
/// Mutex. A fork does not wait for its holder: a forked child, where the driver is not usable, must
/// not lock it.
class SpinLock {
 public:
  void lock() noexcept {
    while (!try_lock()) std::this_thread::yield();
  }
  bool try_lock() noexcept { return !is_held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

class MemoryPool;
class EventPool;
class StagingArea;
class PinnedPool;

/// One device in this process: its primary context and the pools and caches on it. Never destroyed:
/// the primary context is retained once and never released, because other libraries share it and
/// because the driver may shut down before the last destructor runs.
class DeviceContext {
 public:
  /// Created at the first call for each device. Throws DeviceError.
  static DeviceContext& of(int ordinal);
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  const DriverApi& api;
  const DeviceInfo& info;
  const Device device;
  const CUcontext handle;

  MemoryPool& memory() noexcept { return *memory_; }
  EventPool& events() noexcept { return *events_; }
  StagingArea& staging() noexcept { return *staging_; }
  PinnedPool& pinned_pool() noexcept { return *pinned_pool_; }
  /// The legacy default stream, see make_default_stream().
  const Ref<runtime::StreamState>& default_stream() noexcept { return default_stream_; }
  /// A stream that is ordered after the work of all detached foreign streams (CudaStream::detach);
  /// created at the first call. The context must be current. Throws DeviceError.
  CUstream successor_stream();

 private:
  explicit DeviceContext(int ordinal);
  ~DeviceContext();

  std::unique_ptr<MemoryPool> memory_;
  std::unique_ptr<EventPool> events_;
  std::unique_ptr<StagingArea> staging_;
  std::unique_ptr<PinnedPool> pinned_pool_;
  Ref<runtime::StreamState> default_stream_;
  Mutex successor_mutex_;
  CUstream successor_stream_ = nullptr;
};

/// Makes a device's primary context current on the calling thread; the destructor restores the
/// previous one. If it is current already, as on a thread that uses one GPU, this costs one driver
/// query. Throws DeviceError, also in a forked child that cannot use the driver.
///
/// On a thread without a current context, the primary context of device 0 stays current after the
/// guard is destroyed: cudaGetDevice() returns 0 with and without it, and later guards find it
/// current. The primary context of another device would change the result of cudaGetDevice() and is
/// popped.
class ContextGuard {
 public:
  explicit ContextGuard(const DeviceContext& context) : ContextGuard(context, std::nothrow) {
    if (code_ != CUDA_SUCCESS) [[unlikely]]
      refuse(context);
  }
  /// Does not throw, for destructors: check ok() before calling the driver.
  ContextGuard(const DeviceContext& context, std::nothrow_t) noexcept : api_(context.api) {
    if (!usable_after_fork()) [[unlikely]] {
      code_ = CUDA_ERROR_NOT_INITIALIZED;
      return;
    }
    CUcontext current = nullptr;
    code_ = api_.ctx_get_current(&current);
    if (code_ == CUDA_SUCCESS && current != context.handle) [[unlikely]]
      enter(context, current);
  }
  ~ContextGuard() {
    if (pushed_) {
      CUcontext popped = nullptr;
      api_.ctx_pop_current(&popped);
    }
  }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

  bool ok() const noexcept { return code_ == CUDA_SUCCESS; }
  CUresult code() const noexcept { return code_; }
  /// Leaves the context current; returns whether the caller must pop it.
  bool keep() noexcept { return std::exchange(pushed_, false); }

 private:
  void enter(const DeviceContext& context, CUcontext current) noexcept;
  [[noreturn]] void refuse(const DeviceContext& context) const;

  const DriverApi& api_;
  CUresult code_ = CUDA_SUCCESS;
  bool pushed_ = false;
};

/// Sets the calling thread's capture mode to relaxed during its lifetime. This allows calls that
/// are forbidden while another stream is captured in global mode, such as synchronizing a stream
/// that is not captured.
class RelaxedCaptureMode {
 public:
  explicit RelaxedCaptureMode(const DriverApi& api) noexcept : api_(api) {
    exchanged_ = api_.thread_exchange_capture_mode(&mode_) == CUDA_SUCCESS;
  }
  ~RelaxedCaptureMode() {
    if (exchanged_) api_.thread_exchange_capture_mode(&mode_);
  }
  RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
  RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;

 private:
  const DriverApi& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

inline bool is_capture_error(CUresult code) noexcept {
  return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
         code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/// Whether work queued on `stream` now would be captured, or would invalidate a capture of another
/// stream in the context (the legacy stream, while another stream is captured: the query then fails
/// with an error of captures). False if the query fails for another reason, such as a lost context:
/// the next call on the stream reports it.
inline bool is_capturing(const DriverApi& api, CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = api.stream_is_capturing(stream, &status);
  return is_capture_error(code) ||
         (code == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
}

}  // namespace spanwise::cuda
