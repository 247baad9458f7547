// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.hpp"

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/blas/blas.hpp"
#include "backends/cpu/jit/compiler.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/jit/jit_compiler.hpp"
#include "backends/cpu/jit/process.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/memory/memory_pool.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "source/header_names.hpp"
#include "spanwise/error.hpp"
#include "spanwise/tools.hpp"

namespace spanwise::cpu_backend {
namespace {

// The first line of --version: "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6".
std::string version_of(const HostCompiler& compiler) {
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), compiler.arguments.begin(), compiler.arguments.end());
  command.push_back("--version");
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  const ProcessResult result = run_process(command, folder);
  const std::string version = result.output.substr(0, result.output.find('\n'));
  if (result.exit_code != 0)
    fail<DeviceError>(compiler.path, " does not run: ", version,
                      "; install it anew, or set CXX to another C++ compiler");
  return version;
}

// The system's C++ compiler and its version, or why it is missing. Runs it to get the version.
std::vector<Tool> tools() {
  Tool tool{.name = "host compiler"};
  try {
    const HostCompiler compiler = require_compiler();
    tool.path = compiler.path;
    tool.version = version_of(compiler);
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return {tool};
}

[[maybe_unused]] const bool registered = runtime::register_backend(std::make_unique<CpuBackend>());

}  // namespace

CpuBackend::CpuBackend() {
  for (int ordinal = 0; ordinal < logical_devices; ++ordinal)
    default_streams_[static_cast<std::size_t>(ordinal)] =
        make_ref<CpuStream>(Device(DeviceKind::cpu, ordinal));
}

DeviceProperties CpuBackend::properties(int) {
  const SystemMemory memory = system_memory();
  DeviceProperties properties;
  properties.name = processor_name();
  properties.architecture = processor_architecture();
  properties.total_memory = memory.total;
  properties.free_memory = memory.available;
  properties.multiprocessors = ThreadPool::instance().workers();
  return properties;
}

std::vector<Tool> CpuBackend::tools() {
  std::vector<Tool> all = cpu_backend::tools();
  all.push_back(blas_tool());
  return all;
}

std::string_view CpuBackend::header_handling(std::string_view name) {
  if (source::is_host_library_header(name)) return "left out";
  if (is_cuda_header(name) || source::is_cpp_header(name)) return "known";
  return shim_header(name) ? "replaced" : "";
}

void* CpuBackend::allocate(int, std::size_t bytes, runtime::StreamState&) {
  return MemoryPool::instance().allocate(bytes);
}

void* CpuBackend::allocate_zeroed(int, std::size_t bytes, runtime::StreamState&) {
  return MemoryPool::instance().allocate_zeroed(bytes);
}

void CpuBackend::deallocate(int, void* data, std::size_t bytes, runtime::StreamState&) noexcept {
  MemoryPool::instance().deallocate(data, bytes);
}

void CpuBackend::trim(int) { MemoryPool::instance().trim(); }

runtime::MemoryInfo CpuBackend::memory(int) {
  runtime::MemoryInfo info = MemoryPool::instance().usage();
  const SystemMemory memory = system_memory();
  info.free = memory.available;
  info.total = memory.total;
  return info;
}

Ref<runtime::StreamState> CpuBackend::create_stream(int ordinal) {
  return make_ref<CpuStream>(Device(DeviceKind::cpu, ordinal));
}

Ref<runtime::StreamState> CpuBackend::foreign_stream(int, std::uintptr_t handle) {
  fail<ArgumentError>("stream: the CPU has no streams of other libraries, got handle ", handle,
                      "; expected a stream made by Stream.create(cpu)");
}

Ref<runtime::StreamState> CpuBackend::default_stream(int ordinal) {
  return default_streams_.at(static_cast<std::size_t>(ordinal));
}

void CpuBackend::synchronize(int) {}

void CpuBackend::upload(const void* host, void* device, std::size_t bytes, runtime::StreamState&) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void CpuBackend::download(const void* device, void* host, std::size_t bytes,
                          runtime::StreamState&) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void CpuBackend::copy_peer(const void* source, int, void* target, int, std::size_t bytes,
                           runtime::StreamState&) {
  if (bytes > 0) std::memcpy(target, source, bytes);
}

bool CpuBackend::gemm(const GemmCall& call, runtime::StreamState&) { return blas_gemm(call); }

int CpuBackend::workers() { return ThreadPool::instance().workers(); }

void CpuBackend::run_parallel(std::uint64_t chunks,
                              void (*call)(void* context, std::uint64_t chunk), void* context) {
  ThreadPool::instance().run(chunks, Helpers::at_once,
                             [&](std::uint64_t chunk) { call(context, chunk); });
}

std::string CpuBackend::compiler_fingerprint(int, const runtime::CompileRequest&) {
  return jit_fingerprint();
}

runtime::KernelBinary CpuBackend::compile(int, const runtime::CompileRequest& request) {
  return jit_compile(request);
}

Ref<runtime::LoadedModule> CpuBackend::load(int, const runtime::KernelBinary& binary) {
  return make_ref<CpuModule>(binary);
}

}  // namespace spanwise::cpu_backend
