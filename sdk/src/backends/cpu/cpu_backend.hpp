// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "backends/cpu/cpu_stream.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cpu_backend {

/// The machine's processors as one device. Work is synchronous: it is complete when the call
/// returns.
class CpuBackend final : public runtime::Backend {
 public:
  CpuBackend();
  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  int device_count() noexcept override { return logical_devices; }
  std::string why_absent() override { return {}; }
  DeviceProperties properties(int ordinal) override;
  std::vector<Tool> tools() override;
  std::string_view header_handling(std::string_view name) override;

  void* allocate(int ordinal, std::size_t bytes, runtime::StreamState& stream) override;
  void* allocate_zeroed(int ordinal, std::size_t bytes, runtime::StreamState& stream) override;
  void deallocate(int ordinal, void* data, std::size_t bytes,
                  runtime::StreamState& stream) noexcept override;
  runtime::MemoryInfo memory(int ordinal) override;
  void trim(int ordinal) override;

  Ref<runtime::StreamState> create_stream(int ordinal) override;
  Ref<runtime::StreamState> foreign_stream(int ordinal, std::uintptr_t handle) override;
  Ref<runtime::StreamState> default_stream(int ordinal) override;
  void synchronize(int ordinal) override;

  void upload(const void* host, void* device, std::size_t bytes,
              runtime::StreamState& stream) override;
  void download(const void* device, void* host, std::size_t bytes,
                runtime::StreamState& stream) override;
  void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                 std::size_t bytes, runtime::StreamState& stream) override;

  bool gemm(const GemmCall& call, runtime::StreamState& stream) override;
  int workers() override;
  void run_parallel(std::uint64_t chunks, void (*call)(void* context, std::uint64_t chunk),
                    void* context) override;

  std::string compiler_fingerprint(int ordinal, const runtime::CompileRequest& request) override;
  runtime::KernelBinary compile(int ordinal, const runtime::CompileRequest& request) override;
  Ref<runtime::LoadedModule> load(int ordinal, const runtime::KernelBinary& binary) override;

 private:
  // cpu, cpu:1, ... all refer to the same processors and memory.
  static constexpr int logical_devices = 16;
  std::array<Ref<CpuStream>, logical_devices> default_streams_;
};

}  // namespace spanwise::cpu_backend
