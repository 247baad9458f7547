// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/backend.hpp"

namespace spanwise::test {

/// A minimal back end over host memory, so that tests of the runtime need no real one. New memory
/// is poisoned.
class NaiveCpu : public runtime::Backend {
 public:
  explicit NaiveCpu(Device device = cpu);
  ~NaiveCpu() override;

  /// Blocks that were allocated and not freed.
  int live_blocks() const noexcept { return live_blocks_; }
  /// From now on allocate_zeroed() is supported.
  void offer_zeros() noexcept { offers_zeros_ = true; }

  DeviceKind kind() const noexcept override { return device_.kind(); }
  int device_count() noexcept override { return 1; }
  std::string unavailable_reason() override { return ""; }
  DeviceProperties properties(int ordinal) override;
  void* allocate(int ordinal, std::size_t bytes, runtime::StreamState& stream) override;
  void* allocate_zeroed(int ordinal, std::size_t bytes, runtime::StreamState& stream) override;
  void deallocate(int ordinal, void* data, std::size_t bytes,
                  runtime::StreamState& stream) noexcept override;
  runtime::MemoryInfo memory(int ordinal) override;
  Ref<runtime::StreamState> create_stream(int ordinal) override;
  Ref<runtime::StreamState> foreign_stream(int ordinal, std::uintptr_t handle) override;
  Ref<runtime::StreamState> default_stream(int ordinal) override;
  void synchronize(int ordinal) override;
  static const runtime::ElementLoops loops;
  void upload(const void* host, void* device, std::size_t bytes,
              runtime::StreamState& stream) override;
  void download(const void* device, void* host, std::size_t bytes,
                runtime::StreamState& stream) override;
  void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                 std::size_t bytes, runtime::StreamState& stream) override;
  std::string compiler_fingerprint(int ordinal, const runtime::CompileRequest& request) override;
  runtime::KernelBinary compile(int ordinal, const runtime::CompileRequest& request) override;
  Ref<runtime::LoadedModule> load(int ordinal, const runtime::KernelBinary& binary) override;

 private:
  Device device_;
  Ref<runtime::StreamState> default_stream_;
  std::atomic<int> live_blocks_{0};
  bool offers_zeros_ = false;
};

}  // namespace spanwise::test
