// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "support/naive_cpu.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include "spanwise/core/error.hpp"
#include "support/naive_loops.hpp"

namespace spanwise::test {
namespace {

using runtime::EventState;
using runtime::StreamState;

constexpr std::align_val_t naive_alignment{256};

class IdleEvent final : public EventState {
 public:
  explicit IdleEvent(Device device) : EventState(device) {}
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  double milliseconds_since(EventState&) override { return 0; }
};

class IdleStream final : public StreamState {
 public:
  explicit IdleStream(Device device) : StreamState(device) {}
  std::uintptr_t handle() const noexcept override { return 0; }
  void synchronize() override {}
  bool query() override { return true; }
  Ref<EventState> record(bool) override { return make_ref<IdleEvent>(device()); }
  void wait(EventState&) override {
    if (device().is_cpu()) FAIL() << "the host cannot queue a wait";
  }
};

[[noreturn]] void fail_naive_compiler() { fail<DeviceError>("naive cpu: has no compiler"); }

void naive_cpu_copy(const Array& source, const Array& target, StreamState&) {
  EXPECT_EQ(source.shape(), target.shape());
  EXPECT_FALSE(may_share_memory(source, target));
  EXPECT_FALSE(target.layout().may_overlap_itself());
  EXPECT_TRUE(source.dtype().is_computable() && target.dtype().is_computable());
  naive_copy(UnownedArray(source), UnownedArray(target));
}

void naive_cpu_fill(const Array& target, const Scalar& value, StreamState&) {
  EXPECT_EQ(value.dtype(), target.dtype());
  EXPECT_FALSE(target.layout().may_overlap_itself());
  naive_fill(UnownedArray(target), value);
}

}  // namespace

NaiveCpu::NaiveCpu(Device device)
    : device_(device), default_stream_(make_ref<IdleStream>(device)) {}
NaiveCpu::~NaiveCpu() { EXPECT_EQ(live_blocks_, 0) << "blocks outlive the back end"; }

DeviceProperties NaiveCpu::properties(int) {
  DeviceProperties properties;
  properties.name = "naive cpu";
  return properties;
}

void* NaiveCpu::allocate(int, std::size_t bytes, StreamState&) {
  void* data = ::operator new(bytes, naive_alignment);
  std::memset(data, 0xcd, bytes);
  ++live_blocks_;
  return data;
}

void* NaiveCpu::allocate_zeroed(int ordinal, std::size_t bytes, StreamState& stream) {
  return offers_zeros_ ? std::memset(allocate(ordinal, bytes, stream), 0, bytes) : nullptr;
}

void NaiveCpu::deallocate(int, void* data, std::size_t bytes, StreamState&) noexcept {
  std::memset(data, 0xdd, bytes);
  ::operator delete(data, naive_alignment);
  --live_blocks_;
}

runtime::MemoryInfo NaiveCpu::memory(int) { return {}; }
Ref<StreamState> NaiveCpu::create_stream(int) { return make_ref<IdleStream>(device_); }
Ref<StreamState> NaiveCpu::foreign_stream(int, std::uintptr_t) {
  fail<ArgumentError>("naive cpu: no foreign streams");
}
Ref<StreamState> NaiveCpu::default_stream(int) { return default_stream_; }
void NaiveCpu::synchronize(int) {}

const runtime::ElementLoops NaiveCpu::loops{naive_cpu_copy, naive_cpu_fill};

void NaiveCpu::upload(const void*, void*, std::size_t, StreamState&) {
  ADD_FAILURE() << "upload to the host";
}
void NaiveCpu::download(const void*, void*, std::size_t, StreamState&) {
  ADD_FAILURE() << "download from the host";
}
void NaiveCpu::copy_peer(const void*, int, void*, int, std::size_t, StreamState&) {
  ADD_FAILURE() << "peers of the host";
}
std::string NaiveCpu::compiler_fingerprint(int, const runtime::CompileRequest&) {
  fail_naive_compiler();
}
runtime::KernelBinary NaiveCpu::compile(int, const runtime::CompileRequest&) {
  fail_naive_compiler();
}
Ref<runtime::LoadedModule> NaiveCpu::load(int, const runtime::KernelBinary&) {
  fail_naive_compiler();
}

}  // namespace spanwise::test
