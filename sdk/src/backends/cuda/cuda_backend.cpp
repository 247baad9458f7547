// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <vector>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "backends/cuda/compile/cuda_linker.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/cublas.hpp"
#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_module.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "backends/cuda/cuda_transfer.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/driver.hpp"
#include "backends/cuda/launch/launch_chain.hpp"
#include "backends/cuda/launch/recorded_call.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/tools.hpp"

namespace spanwise::cuda {

namespace {

struct PointerAttributes {
  Device device;
  int ordinal = 0;  ///< -1: memory that is not tied to a device
  CUcontext context = nullptr;
};

// Throws DeviceError for a failed query of the driver's state, as in a context that a kernel has
// ended. The driver returns the other codes for addresses that it does not know, and at process
// exit.
void check_query(CUresult code, const char* action) {
  if (code != CUDA_ERROR_INVALID_VALUE && code != CUDA_ERROR_INVALID_CONTEXT &&
      code != CUDA_ERROR_NOT_INITIALIZED && code != CUDA_ERROR_DEINITIALIZED)
    check(driver_status().api, code, action);
}

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
  check_query(code, "looking for the device of an address");
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

// Backend::device_of: cuda, cuda_host or cuda_managed, with the ordinal of the device that the
// memory was allocated for.
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
  const CUresult code = api.ctx_get_device(&device);
  check_query(code, "looking for the device of the current context");
  if (code != CUDA_SUCCESS) return std::nullopt;
  return make_gpu_context(context, Device(DeviceKind::cuda, device));
}

// The version is taken from the file name: cuBLAS takes half a gigabyte, too much to load for it.
Tool cublas_tool() {
  Tool tool{.name = "cuBLAS"};
  const std::filesystem::path path = cublas::library_path();
  if (path.empty()) {
    tool.missing =
        "Products on a GPU run in our own kernels, which are slower. Install it (python3 -m pip "
        "install nvidia-cublas, of the driver's major version or older), or name its folder in "
        "SPANWISE_CUDA_LIBRARY_PATH";
    return tool;
  }
  const std::string name = path.filename().string();
  const std::size_t version = name.find(".so.");
  tool.version = version == name.npos ? "of unknown version" : name.substr(version + 4);
  tool.path = path.string();
  return tool;
}

Tool linker_tool() {
  if (const nvjitlink::Library* library = nvjitlink::library())
    return {.name = "nvJitLink",
            .version = text(library->major, ".", library->minor),
            .path = library->path.string()};
  return {.name = "nvJitLink",
          .missing = text("The driver links sources, without inlining across them, and takes no "
                          "LTO-IR; ",
                          nvjitlink::remedy())};
}

// NVRTC, nvJitLink and cuBLAS: version and path, or why one is missing. Loads NVRTC and nvJitLink.
std::vector<Tool> tools() {
  Tool tool{.name = "NVRTC"};
  try {
    const nvrtc::Library& library = nvrtc::library();
    tool.version = text(library.major, ".", library.minor);
    tool.path = library.path.string();
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return {tool, linker_tool(), cublas_tool()};
}

using runtime::CompileRequest;
using runtime::StreamState;

ComputeCapability capability_of(int ordinal) {
  const DeviceInfo& info = device_info(ordinal);
  return {info.major, info.minor};
}

// The addresses and the contents of host memory may change before a recorded call is repeated.
void refuse_while_recording() {
  if (stream_recording.stream != nullptr) [[unlikely]]
    fail<DeviceError>("cuda: a copy from or to the host cannot be part of a recorded call");
}

/// The backend of NVIDIA GPUs. Each member looks up its DeviceContext and forwards to the functions
/// in the other files of this folder.
class CudaBackend final : public runtime::Backend {
 public:
  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }

  int device_count() noexcept override {
    try {
      return usable_after_fork() ? driver_status().device_count : 0;
    } catch (const std::exception&) {  // out of host memory while loading the driver
      return 0;
    }
  }
  std::string unavailable_reason() override {
    return usable_after_fork() ? driver_status().unavailable_reason : fork_error();
  }
  DeviceProperties properties(int ordinal) override {
    DeviceProperties properties = device_info(ordinal).properties;
    properties.free_memory = memory(ordinal).free;
    return properties;
  }
  std::vector<Tool> tools() override { return cuda::tools(); }

  void* allocate(int ordinal, std::size_t bytes, StreamState& stream) override {
    DeviceContext& context = DeviceContext::of(ordinal);
    return context.memory().allocate(bytes, cuda_stream(context, stream));
  }
  void* allocate_outside_graph(int ordinal, std::size_t bytes, StreamState& stream) override {
    DeviceContext& context = DeviceContext::of(ordinal);
    return context.memory().allocate_outside_graph(bytes, cuda_stream(context, stream));
  }
  void run_in_relaxed_capture_mode(const std::function<void()>& work) override {
    const RelaxedCaptureMode relaxed(driver());
    work();
  }
  void deallocate(int ordinal, void* data, std::size_t bytes,
                  StreamState& stream) noexcept override {
    if (!usable_after_fork() || data == nullptr) return;
    try {
      DeviceContext& context = DeviceContext::of(ordinal);
      context.memory().deallocate(data, bytes, cuda_stream(context, stream));
    } catch (const std::exception&) {  // cannot be reported; freed at process exit
    }
  }
  runtime::MemoryInfo memory(int ordinal) override {
    return DeviceContext::of(ordinal).memory().info();
  }
  void trim(int ordinal) override {
    DeviceContext& context = DeviceContext::of(ordinal);
    context.memory().trim();
    context.pinned_pool().trim();
  }
  void* allocate_pinned(int ordinal, std::size_t bytes) override {
    return DeviceContext::of(ordinal).pinned_pool().take(bytes);
  }
  void release_pinned(int ordinal, void* data, std::size_t bytes) noexcept override {
    if (!usable_after_fork()) return;
    try {
      DeviceContext::of(ordinal).pinned_pool().put(data, bytes);
    } catch (const std::exception&) {  // as in deallocate()
    }
  }
  std::optional<Device> device_of(const void* address) override { return cuda::device_of(address); }
  std::optional<GpuContext> context_of(const void* address) override {
    return cuda::context_of(address);
  }
  std::optional<GpuContext> current_context() override { return cuda::current_context(); }
  // Bit 0 of the result: the context was pushed; above: 1 + the thread's former capture mode.
  unsigned enter_context(int ordinal, bool relaxed_capture) override {
    const DeviceContext& context = DeviceContext::of(ordinal);
    ContextGuard guard(context);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    unsigned entered = 0;
    if (relaxed_capture && context.api.thread_exchange_capture_mode(&mode) == CUDA_SUCCESS)
      entered = (1u + mode) << 1;
    return entered | (guard.keep() ? 1u : 0u);
  }
  void leave_context(unsigned entered) noexcept override {
    const DriverApi& api = driver();
    auto mode = static_cast<CUstreamCaptureMode>((entered >> 1) - 1);
    if (entered > 1) api.thread_exchange_capture_mode(&mode);
    CUcontext popped = nullptr;
    if ((entered & 1u) != 0) api.ctx_pop_current(&popped);
  }

  Ref<StreamState> create_stream(int ordinal) override {
    return cuda::create_stream(DeviceContext::of(ordinal), 0);
  }
  Ref<StreamState> create_prioritized_stream(int ordinal, int priority) override {
    return cuda::create_stream(DeviceContext::of(ordinal), priority);
  }
  Ref<StreamState> foreign_stream(int ordinal, std::uintptr_t handle) override {
    DeviceContext& context = DeviceContext::of(ordinal);
    // The default stream has one StreamState: with a second one, using both would need events.
    if (handle == context.default_stream()->handle()) return context.default_stream();
    return cuda::foreign_stream(context, handle);
  }
  Ref<runtime::EventState> foreign_event(int ordinal, std::uintptr_t handle) override {
    return make_ref<CudaEvent>(DeviceContext::of(ordinal), reinterpret_cast<CUevent>(handle));
  }
  Ref<StreamState> default_stream(int ordinal) override {
    return DeviceContext::of(ordinal).default_stream();
  }
  void synchronize(int ordinal) override {
    DeviceContext& context = DeviceContext::of(ordinal);
    flush_launches();
    const ContextGuard guard(context);
    check(context.api, context.api.ctx_synchronize(), "waiting for ", context.device);
  }
  Ref<runtime::LaunchBatch> launch_batch(int ordinal) override {
    return make_ref<CudaLaunchBatch>(DeviceContext::of(ordinal));
  }
  Ref<runtime::RecordedCall> recorded_call(int ordinal) override {
    return make_recorded_call(DeviceContext::of(ordinal));
  }

  bool gemm(const GemmCall& call, StreamState& stream) override {
    return cuda::gemm(call, cuda_stream(stream));
  }
  void* allocate_mapped(int ordinal, std::size_t bytes) override {
    const DeviceContext& context = DeviceContext::of(ordinal);
    const ContextGuard guard(context);
    const RelaxedCaptureMode relaxed(context.api);
    void* data = nullptr;
    check(context.api, context.api.mem_host_alloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE),
          "allocating ", bytes, " bytes of the host for ", context.device);
    return data;
  }
  void upload(const void* host, void* device, std::size_t bytes, StreamState& stream) override {
    refuse_while_recording();
    cuda::upload(host, device, bytes, cuda_stream(stream));
  }
  void upload_pinned(const void* host, void* device, std::size_t bytes,
                     StreamState& stream) override {
    refuse_while_recording();
    cuda::upload_pinned(host, device, bytes, cuda_stream(stream));
  }
  void download(const void* device, void* host, std::size_t bytes, StreamState& stream) override {
    refuse_while_recording();
    cuda::download(device, host, bytes, cuda_stream(stream));
  }
  void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                 std::size_t bytes, StreamState& stream) override {
    cuda::copy_peer(DeviceContext::of(source_ordinal), source, target, bytes,
                    cuda_stream(DeviceContext::of(target_ordinal), stream));
  }
  bool fill_bytes(void* data, const void* value, int period, std::size_t bytes,
                  StreamState& stream) override {
    return cuda::fill_bytes(data, value, period, bytes, cuda_stream(stream));
  }

  std::string compiler_fingerprint(int ordinal, const CompileRequest& request) override {
    return cuda::compiler_fingerprint(capability_of(ordinal), request);
  }
  runtime::KernelBinary compile(int ordinal, const CompileRequest& request) override {
    return cuda::compile(capability_of(ordinal), request, ordinal);
  }
  runtime::KernelBinary compile_for(const std::string& target,
                                    const CompileRequest& request) override {
    return cuda::compile_for(target, request);
  }
  int suitability(int ordinal, std::string_view target) override {
    return cuda::suitability(capability_of(ordinal), target);
  }
  Ref<runtime::LoadedModule> load(int ordinal, const runtime::KernelBinary& binary) override {
    return make_ref<CudaModule>(DeviceContext::of(ordinal), binary.image);
  }
};

[[maybe_unused]] const bool registered = runtime::register_backend(std::make_unique<CudaBackend>());

}  // namespace

}  // namespace spanwise::cuda
