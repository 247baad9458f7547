// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver.hpp"
#include "backends/cuda/launch/launch_tuner.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/devices.hpp"

/// What the tests of the CUDA back end share: the device, memory on it, kernels for it.
namespace spanwise::cuda {

inline constexpr Device gpu{DeviceKind::cuda, 0};

/// A function of the driver that the back end does not use, for tests that act as another library.
template <class Function>
Function* driver_function(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* function = library != nullptr ? dlsym(library, name) : nullptr;
  if (function == nullptr) ADD_FAILURE() << "the driver has no " << name;
  return reinterpret_cast<Function*>(function);
}

/// Skips its tests, with the reason, if there is no device.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_cuda(); !reason.empty()) GTEST_SKIP() << reason;
  }
  static runtime::Backend& backend() { return runtime::backend_for(gpu); }
  static const runtime::ElementLoops& loops() { return runtime::element_loops(gpu); }
  static Ref<runtime::StreamState> default_stream() { return backend().default_stream(0); }
};

/// Skips a test whose expectation does not hold while a tool such as compute-sanitizer serialises
/// work; `reason` says why. Returns from the calling test.
#define SKIP_UNDER_TOOLS(reason) \
  if (is_watched_by_tool()) GTEST_SKIP() << "under compute-sanitizer or a profiler: " << (reason)

/// Sets config "kernel_launch" to `value`; the destructor restores the previous value.
class ScopedLaunchConfig {
 public:
  explicit ScopedLaunchConfig(const std::string& value) : before_(config::get("kernel_launch")) {
    config::set("kernel_launch", value);
  }
  ~ScopedLaunchConfig() { config::set("kernel_launch", before_); }
  ScopedLaunchConfig(const ScopedLaunchConfig&) = delete;
  ScopedLaunchConfig& operator=(const ScopedLaunchConfig&) = delete;

 private:
  std::string before_;
};

/// Memory on the first device that work on any stream may use: the constructor waits for the
/// allocation, and the destructor for all work on the device.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes)
      : backend_(runtime::backend_for(gpu)),
        stream_(backend_.default_stream(0)),
        bytes_(bytes),
        data_(backend_.allocate(0, bytes, *stream_)) {
    stream_->synchronize();
  }
  ~DeviceBytes() {
    try {
      backend_.synchronize(0);
    } catch (const DeviceError&) {  // tests that break the device report it themselves
    }
    backend_.deallocate(0, data_, bytes_, *stream_);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  /// Not owned: the bytes must outlive the array.
  Array array(Layout layout, DType dtype) const {
    return Array(Storage::adopt(data_, bytes_, gpu, nullptr, nullptr), std::move(layout), dtype);
  }
  void put(const void* host) { backend_.upload(host, data_, bytes_, *stream_); }
  template <class T>
  std::vector<T> get() const {
    std::vector<T> host(bytes_ / sizeof(T));
    backend_.download(data_, host.data(), host.size() * sizeof(T), *stream_);
    return host;
  }

 private:
  runtime::Backend& backend_;
  Ref<runtime::StreamState> stream_;
  std::size_t bytes_;
  void* data_;
};

inline Ref<runtime::LoadedModule> load_module(const std::string& source,
                                              runtime::CompileRequest request = {}) {
  const parse::KernelSource scanned = parse::scan_kernels(source);
  request.source = &scanned;
  runtime::Backend& backend = runtime::backend_for(gpu);
  return backend.load(0, backend.compile(0, request));
}

inline Ref<runtime::LoadedKernel> load_kernel(const std::string& source, const std::string& name) {
  return load_module(source)->kernel(name);
}

/// Launches one block; `values` must have the types of the kernel's parameters, except for const.
template <class... Values>
void launch(runtime::LoadedKernel& kernel, int threads, runtime::StreamState& stream,
            Values... values) {
  void* arguments[] = {&values..., nullptr};
  kernel.launch({}, {threads}, 0, stream, arguments);
}

/// delayed_write(int* out, int value, long long nanoseconds): busy-waits, then writes *out = value.
inline Ref<runtime::LoadedKernel> delayed_write() {
  static const Ref<runtime::LoadedKernel> kernel = load_kernel(
      "__device__ long long now() {\n"
      "  long long t;\n  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));\n  return "
      "t;\n}\n"
      "__global__ void delayed_write(int* out, int value, long long nanoseconds) {\n"
      "  const long long start = now();\n  while (now() - start < nanoseconds) {}\n"
      "  *out = value;\n}\n",
      "delayed_write");
  return kernel;
}
inline constexpr long long ns_per_ms = 1000000;

/// copy_int(const int* from, int* to): *to = *from.
inline Ref<runtime::LoadedKernel> copy_int() {
  static const Ref<runtime::LoadedKernel> kernel = load_kernel(
      "__global__ void copy_int(const volatile int* from, int* to) { *to = *from; }\n", "copy_int");
  return kernel;
}

/// add_to(int* sums, int i, int amount): each block adds amount * gridDim.x to sums[i]. Each call
/// loads another copy of the kernel.
inline Ref<runtime::LoadedKernel> load_add_to() {
  return load_kernel(
      "__global__ void add_to(int* sums, int i, int amount) {\n"
      "  if (threadIdx.x == 0) atomicAdd(sums + i, amount * (int)gridDim.x);\n}\n",
      "add_to");
}

}  // namespace spanwise::cuda
