// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "support/fake_devices.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using ::testing::HasSubstr;

class RegistryTest : public test::RuntimeTest {};

std::string refusal_of(Device device) {
  return test::message_of<DeviceError>([&] { runtime::backend_for(device); });
}

TEST_F(RegistryTest, FindsTheBackEndOfAKind) {
  EXPECT_EQ(runtime::find_backend(DeviceKind::cuda), &gpus());
  EXPECT_EQ(runtime::find_backend(DeviceKind::cpu), &devices_.host());
  EXPECT_EQ(&runtime::backend_for(test::second_gpu), &gpus());
}

TEST_F(RegistryTest, HostAddressableMemoryBelongsToTheCpu) {
  for (const DeviceKind kind : {DeviceKind::cuda_host, DeviceKind::cuda_managed}) {
    EXPECT_EQ(&runtime::backend_for(Device(kind, 1)), &devices_.host());
    EXPECT_EQ(working_device(Device(kind, 1)), cpu);
    EXPECT_EQ(&runtime::current_stream(Device(kind, 1)), &runtime::current_stream(cpu));
  }
  EXPECT_EQ(working_device(test::second_gpu), test::second_gpu);
}

TEST_F(RegistryTest, UnregisteredKindHasNoBackEnd) {
  const Device rocm(static_cast<DeviceKind>(10));
  EXPECT_EQ(runtime::find_backend(rocm.kind()), nullptr);
  EXPECT_THAT(refusal_of(rocm), HasSubstr("device10:0"));
}

TEST_F(RegistryTest, InvalidOrdinalErrorListsTheValidOnes) {
  EXPECT_THAT(refusal_of(Device(DeviceKind::cuda, 2)), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal_of(Device(DeviceKind::cuda, -1)), HasSubstr("from 0 to 1"));
}

TEST_F(RegistryTest, SecondBackEndOfAKindIsRefused) {
  EXPECT_FALSE(runtime::register_backend(std::make_unique<test::RecordingBackend>(1)));
  EXPECT_EQ(runtime::find_backend(DeviceKind::cuda), &gpus());
}

TEST_F(RegistryTest, TheDefaultStreamIsAlwaysTheSame) {
  runtime::StreamState& stream = runtime::default_stream(test::second_gpu);
  EXPECT_EQ(&stream, &runtime::default_stream(test::second_gpu));
  EXPECT_EQ(stream.device(), test::second_gpu);
  EXPECT_NE(&stream, &runtime::default_stream(test::gpu));
  EXPECT_THROW(runtime::default_stream(Device(DeviceKind::cuda, 2)), DeviceError);
  // An ordinal beyond the table of default streams.
  EXPECT_THROW(runtime::default_stream(Device(DeviceKind::cuda, 200)), DeviceError);
}

TEST(Registry, ErrorWithoutADeviceGivesTheReason) {
  const test::FakeDevices without_gpus(test::FakeDevices::Cpu::naive, /*gpus=*/0);
  EXPECT_THAT(refusal_of(test::gpu), HasSubstr("the fake driver found no device"));
}

TEST(Registry, ErrorWithoutABackEndGivesTheReason) {
  auto previous = runtime::exchange_backend(DeviceKind::cuda, nullptr);
  EXPECT_THAT(refusal_of(test::gpu), HasSubstr("no back end"));
  runtime::exchange_backend(DeviceKind::cuda, std::move(previous));
}

}  // namespace
}  // namespace spanwise
