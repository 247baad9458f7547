// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>

#include "kernels/kernel_call.hpp"

namespace spanwise::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KernelLaunchTest : public KernelCallTest {};

TEST_F(KernelLaunchTest, RawArgumentsPassUnchanged) {
  const Kernel f = kernel("float *x, long long n");
  void* data = x_.data();
  std::int64_t n = 6;
  RawArguments values;
  values.add(&data, x_);
  RawArguments too_few;
  too_few.add(values);
  values.add(&n);
  f.launch_raw({.grid = {2, 1, 1}, .block = {32, 1, 1}}, values);
  EXPECT_EQ(last_launch().value<void*>(0), x_.data());
  EXPECT_EQ(last_launch().value<std::int64_t>(1), 6);
  EXPECT_EQ(last_launch().grid.x, 2);
  EXPECT_THAT(message_of<KernelArgumentError>([&] { f.launch_raw({}, too_few); }),
              AllOf(HasSubstr("expected 2 arguments"), HasSubstr("got 1")));
  EXPECT_THAT(message_of<KernelArgumentError>([&] { f.launch_raw({.grid = {0, 1, 1}}, values); }),
              HasSubstr("grid"));
  EXPECT_EQ(log_->launches.size(), 1u);
}

TEST_F(KernelLaunchTest, RawArgumentsAreCheckedWithKernelCheck) {
  const Kernel f = kernel("float *x, long long n");
  void* data = x_.data();
  std::int64_t n = 6;
  RawArguments values;
  values.add(&data);
  values.add(&n);
  config::set("kernel_check", "bounds");
  f.launch_raw({}, values);
  config::set("kernel_check", "none");
  ASSERT_EQ(log_->launches.size(), 1u);
  EXPECT_TRUE(last_launch().is_checked);
  EXPECT_EQ(last_launch().value<void*>(0), x_.data());
  EXPECT_EQ(last_launch().value<std::int64_t>(1), 6);
}

// The address of an inner element, and a struct that begins with an address. The fake device does
// not fill the guard zones, which ends the check after the launch.
TEST_F(KernelLaunchTest, RawArgumentsOfArraysPointToGuardedCopiesWithKernelCheck) {
  struct View {
    void* data;
    std::int64_t extent, step;
  };
  const Kernel f = kernel("float *x, spanwise::View<float, 1> view, long long n");
  void* inner = static_cast<float*>(x_.data()) + 2;
  const View view{x_.data(), 2, 3};
  std::int64_t n = 6;
  RawArguments values;
  values.add(&inner, x_);
  values.add(&view, x_);
  values.add(&n);
  config::set("kernel_check", "bounds");
  EXPECT_THROW(f.launch_raw({}, values), KernelFaultError);
  config::set("kernel_check", "none");
  const auto* copy = static_cast<const float*>(last_launch().value<View>(1).data);
  EXPECT_NE(copy, x_.data());
  EXPECT_EQ(last_launch().value<View>(1).step, 3);
  EXPECT_EQ(last_launch().value<const float*>(0), copy + 2);
  EXPECT_EQ(last_launch().value<std::int64_t>(2), 6);
}

TEST_F(KernelLaunchTest, MoreRawArgumentsThanFitAreRefused) {
  RawArguments values;
  int n = 0;
  for (std::size_t i = 0; i < RawArguments::max_count; ++i) values.add(&n);
  EXPECT_THROW(values.add(&n), std::out_of_range);
}

TEST_F(KernelLaunchTest, ArraysWithoutElementsMayBePassed) {
  call(kernel("const float *x"), empty({0, 3}, float32, gpu_));
  EXPECT_EQ(log_->launches.size(), 1u);
}

TEST_F(KernelLaunchTest, GridAndBlockMustBePositive) {
  const Kernel f = kernel("float *x");
  EXPECT_THAT(message_of<KernelArgumentError>([&] { f({.grid = {0}}, {x_}); }),
              AllOf(HasSubstr("kernel 'k'"), HasSubstr("(0, 1, 1)"), HasSubstr("skip the call")));
  EXPECT_THAT(message_of<KernelArgumentError>([&] { f({.block = {32, -1}}, {x_}); }),
              HasSubstr("(32, -1, 1)"));
  EXPECT_THAT(message_of<KernelArgumentError>([&] { f({.shared_bytes = -1}, {x_}); }),
              HasSubstr("-1"));
}

TEST_F(KernelLaunchTest, AStreamOfAnotherDeviceIsRefused) {
  const Stream other = Stream::create(Device(DeviceKind::cuda, 1));
  EXPECT_THAT(message_of<KernelArgumentError>([&] { kernel("float *x")({.stream = other}, {x_}); }),
              AllOf(HasSubstr("cuda:0"), HasSubstr("cuda:1"), HasSubstr("Remedy")));
  EXPECT_THROW(kernel("float *x")({.stream = Stream::current(cpu)}, {x_}), KernelArgumentError);
}

TEST_F(KernelLaunchTest, LaunchWaitsForWorkOnOtherStreams) {
  const Stream first = Stream::create(gpu_), second = Stream::create(gpu_);
  const Kernel reads = kernel("const float *x, float *out"),
               writes = kernel("float *x, float *out");
  const auto waits = [&] { return static_cast<CountingStream&>(second.state()).waits; };
  reads({.stream = first}, {x_, empty({6}, float32, gpu_)});
  reads({.stream = second}, {x_, empty({6}, float32, gpu_)});
  EXPECT_EQ(last_launch().stream, &second.state());
  const int after_read = waits();
  writes({.stream = second}, {x_, y_});
  EXPECT_GT(waits(), after_read) << "a write must wait for another stream's read";
  const int after_write = waits();
  writes({.stream = second}, {x_, y_});
  EXPECT_EQ(waits(), after_write) << "on one stream there is nothing to wait for";
}

TEST_F(KernelLaunchTest, ParametersDescribeKnownTypes) {
  const Kernel f = kernel("const float *x, int n, Pair p");
  const auto parameters = f.parameters();
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].name, "x");
  EXPECT_TRUE(parameters[0].is_pointer && parameters[0].is_const);
  EXPECT_EQ(parameters[0].dtype, float32);
  EXPECT_EQ(parameters[1].type, "int");
  EXPECT_EQ(parameters[1].offset, 8);
  EXPECT_EQ(parameters[2].size, 12);
  EXPECT_FALSE(parameters[2].dtype);
  EXPECT_EQ(f.attributes().registers, 17);
}

}  // namespace
}  // namespace spanwise::test
