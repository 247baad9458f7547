// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"
#include "support/fake_devices.hpp"

namespace spanwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DevicesTest : public test::RuntimeTest {
 protected:
  void TearDown() override { config::set("device", "auto"); }
};

TEST_F(DevicesTest, AreTheGpusAndThenTheCpu) {
  EXPECT_THAT(devices(), ElementsAre(test::gpu, test::second_gpu, cpu));
  EXPECT_EQ(why_no_cuda(), "");
}

TEST_F(DevicesTest, HaveProperties) {
  EXPECT_EQ(properties(test::second_gpu).name, "recording device 1");
  EXPECT_EQ(properties(cpu).name, "naive cpu");
  EXPECT_EQ(properties(Device(DeviceKind::cuda_host, 1)).name, "naive cpu");
  EXPECT_THROW(properties(Device(DeviceKind::cuda, 2)), DeviceError);
}

TEST_F(DevicesTest, FixedPropertiesAreReadOnceForEachDevice) {
  const DeviceProperties& fixed = fixed_properties(test::second_gpu);
  EXPECT_EQ(fixed.name, "recording device 1");
  EXPECT_EQ(fixed.free_memory, 0);
  EXPECT_EQ(&fixed_properties(test::second_gpu), &fixed);
  EXPECT_EQ(fixed_properties(test::gpu).name, "recording device 0");
  EXPECT_THROW(fixed_properties(Device(DeviceKind::cuda, 2)), DeviceError);
}

TEST_F(DevicesTest, TheDefaultIsTheFirstGpu) { EXPECT_EQ(default_device(), test::gpu); }

TEST_F(DevicesTest, ConfigOverridesTheFirstGpu) {
  config::set("device", "cpu");
  EXPECT_EQ(default_device(), cpu);
  config::set("device", "cuda:1");
  EXPECT_EQ(default_device(), test::second_gpu);
  config::set("device", "auto");
  EXPECT_EQ(default_device(), test::gpu);
}

TEST_F(DevicesTest, GuardOverridesTheConfigAndNests) {
  config::set("device", "cpu");
  {
    const DeviceGuard outer(test::second_gpu);
    EXPECT_EQ(default_device(), test::second_gpu);
    {
      const DeviceGuard inner(test::gpu);
      EXPECT_EQ(default_device(), test::gpu);
    }
    EXPECT_EQ(default_device(), test::second_gpu);
  }
  EXPECT_EQ(default_device(), cpu);
}

TEST_F(DevicesTest, TheGuardAffectsOnlyItsThread) {
  const DeviceGuard guard(test::second_gpu);
  std::thread([] { EXPECT_EQ(default_device(), test::gpu); }).join();
}

TEST_F(DevicesTest, AGuardOfAnAbsentDeviceChangesNothing) {
  EXPECT_THROW(DeviceGuard(Device(DeviceKind::cuda, 9)), DeviceError);
  EXPECT_EQ(default_device(), test::gpu);
}

TEST_F(DevicesTest, SynchronizeReachesTheBackEnd) {
  synchronize(test::second_gpu);
  EXPECT_THAT(gpus().take_log(), ElementsAre("synchronize device 1"));
}

TEST(Devices, WithoutAGpuAreTheCpu) {
  const test::FakeDevices without_gpus(test::FakeDevices::Cpu::naive, /*gpus=*/0);
  EXPECT_THAT(devices(), ElementsAre(cpu));
  EXPECT_EQ(default_device(), cpu);
  EXPECT_THAT(why_no_cuda(), HasSubstr("no device"));
}

}  // namespace
}  // namespace spanwise
