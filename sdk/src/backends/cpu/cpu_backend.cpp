// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/blas.hpp"
#include "backends/cpu/cpu_memory_pool.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/jit/jit_compiler.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "parse/device_code.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/tools.hpp"

namespace spanwise::cpu_backend {
namespace {

using runtime::StreamState;

/// A point in time. Work on the CPU is synchronous, so an event has always completed.
class CpuEvent final : public runtime::EventState {
 public:
  CpuEvent(Device device, bool timing) : EventState(device) {
    if (timing) time_ = std::chrono::steady_clock::now();
  }
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  double milliseconds_since(EventState& start) override {
    const auto* earlier = dynamic_cast<CpuEvent*>(&start);
    if (earlier == nullptr)
      fail<ArgumentError>("event on cpu: the start is an event on ", start.device(),
                          "; expected one on cpu");
    if (!time_ || !earlier->time_)
      fail<DeviceError>("event on cpu: recorded without timing; expected record(timing=True)");
    return std::chrono::duration<double, std::milli>(*time_ - *earlier->time_).count();
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> time_;
};

/// Work on the CPU is synchronous, so a stream is always idle.
class CpuStream final : public StreamState {
 public:
  explicit CpuStream(Device device) noexcept : StreamState(device) {}
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  Ref<runtime::EventState> record(bool timing) override {
    return make_ref<CpuEvent>(device(), timing);
  }
  void wait(runtime::EventState& event) override { event.synchronize(); }
};

/// The machine's processors as one device. Work is synchronous: it is complete when the call
/// returns.
class CpuBackend final : public runtime::Backend {
 public:
  CpuBackend() {
    for (int ordinal = 0; ordinal < logical_devices; ++ordinal)
      default_streams_[static_cast<std::size_t>(ordinal)] =
          make_ref<CpuStream>(Device(DeviceKind::cpu, ordinal));
  }
  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  int device_count() noexcept override { return logical_devices; }
  std::string unavailable_reason() override { return {}; }

  DeviceProperties properties(int) override {
    const SystemMemory memory = system_memory();
    DeviceProperties properties;
    properties.name = processor_name();
    properties.architecture = processor_architecture();
    properties.total_memory = memory.total;
    properties.free_memory = memory.available;
    properties.multiprocessors = ThreadPool::instance().workers();
    return properties;
  }

  std::vector<Tool> tools() override { return {compiler_tool(), blas::tool()}; }

  void write_coverage() override { CpuModule::write_coverage(); }

  std::string_view header_handling(std::string_view name) override {
    if (parse::is_host_library_header(name)) return "left out";
    if (is_cuda_header(name) || parse::is_cpp_header(name)) return "known";
    return shim_header(name) ? "replaced" : "";
  }

  void* allocate(int, std::size_t bytes, StreamState&) override {
    return CpuMemoryPool::instance().allocate(bytes);
  }
  void* allocate_zeroed(int, std::size_t bytes, StreamState&) override {
    return CpuMemoryPool::instance().allocate_zeroed(bytes);
  }
  void deallocate(int, void* data, std::size_t bytes, StreamState&) noexcept override {
    CpuMemoryPool::instance().deallocate(data, bytes);
  }
  void trim(int) override { CpuMemoryPool::instance().trim(); }

  runtime::MemoryInfo memory(int) override {
    runtime::MemoryInfo info = CpuMemoryPool::instance().usage();
    const SystemMemory memory = system_memory();
    info.free = memory.available;
    info.total = memory.total;
    return info;
  }

  Ref<StreamState> create_stream(int ordinal) override {
    return make_ref<CpuStream>(Device(DeviceKind::cpu, ordinal));
  }
  Ref<StreamState> foreign_stream(int, std::uintptr_t handle) override {
    fail<ArgumentError>("stream: the CPU has no streams of other libraries, got handle ", handle,
                        "; expected a stream made by Stream.create(cpu)");
  }
  Ref<StreamState> default_stream(int ordinal) override {
    return default_streams_.at(static_cast<std::size_t>(ordinal));
  }
  void synchronize(int) override {}

  void upload(const void* host, void* device, std::size_t bytes, StreamState&) override {
    if (bytes > 0) std::memcpy(device, host, bytes);
  }
  void download(const void* device, void* host, std::size_t bytes, StreamState& stream) override {
    upload(device, host, bytes, stream);
  }
  void copy_peer(const void* source, int, void* target, int, std::size_t bytes,
                 StreamState& stream) override {
    upload(source, target, bytes, stream);
  }

  bool gemm(const GemmCall& call, StreamState&) override { return blas::gemm(call); }

  int workers() override { return ThreadPool::instance().workers(); }
  void run_parallel(std::uint64_t chunks, void (*call)(void* context, std::uint64_t chunk),
                    void* context) override {
    ThreadPool::instance().run(chunks, Helpers::at_once,
                               [&](std::uint64_t chunk) { call(context, chunk); });
  }

  std::string compiler_fingerprint(int, const runtime::CompileRequest&) override {
    return jit_fingerprint();
  }
  runtime::KernelBinary compile(int, const runtime::CompileRequest& request) override {
    return jit_compile(request);
  }
  runtime::KernelBinary compile_for(const std::string& target,
                                    const runtime::CompileRequest& request) override {
    return jit_compile_for(target, request);
  }
  int suitability(int, std::string_view target) override { return cpu_suitability(target); }
  Ref<runtime::LoadedModule> load(int, const runtime::KernelBinary& binary) override {
    return make_ref<CpuModule>(binary);
  }

 private:
  // cpu, cpu:1, ... all refer to the same processors and memory.
  static constexpr int logical_devices = 16;
  std::array<Ref<CpuStream>, logical_devices> default_streams_;
};

[[maybe_unused]] const bool registered = runtime::register_backend(std::make_unique<CpuBackend>());

}  // namespace
}  // namespace spanwise::cpu_backend
