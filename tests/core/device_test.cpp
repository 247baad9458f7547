// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

TEST(Device, ParsesEverySpelling) {
  EXPECT_EQ(Device::parse("cpu"), cpu);
  EXPECT_EQ(Device::parse("cpu:0"), cpu);
  EXPECT_EQ(Device::parse("cuda"), Device(DeviceKind::cuda, 0));
  EXPECT_EQ(Device::parse("cuda:1"), Device(DeviceKind::cuda, 1));
  EXPECT_EQ(Device::parse("cuda12"), Device(DeviceKind::cuda, 12));
  EXPECT_EQ(Device::parse("gpu0"), Device(DeviceKind::cuda, 0));
  EXPECT_EQ(Device::parse("gpu"), Device(DeviceKind::cuda, 0));
  EXPECT_EQ(Device::parse("cuda_host:1"), Device(DeviceKind::cuda_host, 1));
  EXPECT_EQ(Device::parse("cuda_managed"), Device(DeviceKind::cuda_managed, 0));
}

TEST(Device, UnknownNameErrorListsTheKnownOnes) {
  for (const char* name : {"", "CPU", "cpu:x", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cudas",
                           "cuda 1", "tpu", "cuda:99999999999"}) {
    try {
      const Device device = Device::parse(name);
      ADD_FAILURE() << '"' << name << "\" became " << device;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("\"cuda:<ordinal>\"")) << name;
    }
  }
}

TEST(Device, NamesParseBack) {
  for (const Device device : {cpu, Device(DeviceKind::cuda, 0), Device(DeviceKind::cuda, 7),
                              Device(DeviceKind::cuda_host, 2), Device(DeviceKind::cuda_managed),
                              Device(DeviceKind::cpu, 1)})
    EXPECT_EQ(Device::parse(device.name()), device);
  EXPECT_EQ(Device(DeviceKind::cuda, 1).name(), "cuda:1");
  EXPECT_EQ(cpu.name(), "cpu");
}

TEST(Device, DlpackKindWithoutABackEndHasAName) {
  EXPECT_EQ(Device(static_cast<DeviceKind>(10), 3).name(), "device10:3");
}

}  // namespace
}  // namespace spanwise
