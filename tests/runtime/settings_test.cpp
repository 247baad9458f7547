// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise {
namespace {

TEST(Settings, FloatXIsAFloatingDtype) {
  EXPECT_EQ(config::get("floatX"), "float64");
  EXPECT_THROW(config::set("floatX", "int32"), ArgumentError);
}

TEST(Settings, DeviceIsADeviceOrAutomatic) {
  EXPECT_THROW(config::set("device", "tpu"), ArgumentError);
  config::set("device", "cuda:3");
  EXPECT_EQ(config::get("device"), "cuda:3");
  config::set("device", "auto");
}

TEST(Settings, LaunchBlockingFollowsTheConfig) {
  config::set("launch_blocking", "1");
  EXPECT_TRUE(runtime::launch_blocking());
  config::set("launch_blocking", "0");
  EXPECT_FALSE(runtime::launch_blocking());
}

// The value of launch_blocking in a process with certain environment variables. The child of a
// threadsafe death test is a new process, whose static initialisers see the environment.
class LaunchBlockingVariable : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    unset_variables();
  }
  void TearDown() override { unset_variables(); }
  static void unset_variables() {
    unsetenv("CUDA_LAUNCH_BLOCKING");
    unsetenv("SPANWISE_LAUNCH_BLOCKING");
  }
  static void print_and_exit() {
    std::cerr << (runtime::launch_blocking() ? "blocking" : "asynchronous");
    std::exit(0);
  }
};

TEST_F(LaunchBlockingVariable, IsOffIfUnset) {
  EXPECT_EXIT(print_and_exit(), ::testing::ExitedWithCode(0), "asynchronous");
}

TEST_F(LaunchBlockingVariable, OfCudaIsHonoured) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EXIT(print_and_exit(), ::testing::ExitedWithCode(0), "blocking");
}

TEST_F(LaunchBlockingVariable, OfCudaMayBeZero) {
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  EXPECT_EXIT(print_and_exit(), ::testing::ExitedWithCode(0), "asynchronous");
}

TEST_F(LaunchBlockingVariable, OfSpanwiseHasPrecedence) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  setenv("SPANWISE_LAUNCH_BLOCKING", "off", 1);
  EXPECT_EXIT(print_and_exit(), ::testing::ExitedWithCode(0), "asynchronous");
}

}  // namespace
}  // namespace spanwise
