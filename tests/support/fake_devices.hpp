// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/naive_cpu.hpp"
#include "support/recording_backend.hpp"

namespace spanwise::test {

inline constexpr Device gpu{DeviceKind::cuda, 0};
inline constexpr Device second_gpu{DeviceKind::cuda, 1};

/// During its lifetime, the back ends are two recording GPUs and, by default, the naive CPU.
class FakeDevices {
 public:
  enum class Cpu { naive, registered };

  explicit FakeDevices(Cpu cpu = Cpu::naive, int gpus = 2) : replaces_cpu_(cpu == Cpu::naive) {
    auto recording = std::make_unique<RecordingBackend>(gpus);
    recording_ = recording.get();
    previous_gpu_ = runtime::exchange_backend(DeviceKind::cuda, std::move(recording));
    gpu_loops_ = runtime::register_element_loops(DeviceKind::cuda, &RecordingBackend::loops);
    if (!replaces_cpu_) return;
    auto naive = std::make_unique<NaiveCpu>();
    naive_ = naive.get();
    previous_cpu_ = runtime::exchange_backend(DeviceKind::cpu, std::move(naive));
    cpu_loops_ = runtime::register_element_loops(DeviceKind::cpu, &NaiveCpu::loops);
  }
  ~FakeDevices() {
    runtime::exchange_backend(DeviceKind::cuda, std::move(previous_gpu_));
    runtime::register_element_loops(DeviceKind::cuda, gpu_loops_);
    if (!replaces_cpu_) return;
    runtime::exchange_backend(DeviceKind::cpu, std::move(previous_cpu_));
    runtime::register_element_loops(DeviceKind::cpu, cpu_loops_);
  }
  FakeDevices(const FakeDevices&) = delete;
  FakeDevices& operator=(const FakeDevices&) = delete;

  RecordingBackend& gpus() noexcept { return *recording_; }
  NaiveCpu& host() noexcept { return *naive_; }

 private:
  bool replaces_cpu_;
  RecordingBackend* recording_ = nullptr;
  NaiveCpu* naive_ = nullptr;
  std::unique_ptr<runtime::Backend> previous_gpu_, previous_cpu_;
  const runtime::ElementLoops *gpu_loops_ = nullptr, *cpu_loops_ = nullptr;
};

/// Fixture of runtime tests: fake devices, and a check that no work accesses freed memory.
class RuntimeTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(devices_.gpus().faults(), 0); }

  RecordingBackend& gpus() noexcept { return devices_.gpus(); }

  FakeDevices devices_;
};

}  // namespace spanwise::test
