// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/fake_device.hpp"

namespace spanwise::test {

/// Makes kernels by their parameters, on a fake GPU, and calls them.
class KernelCallTest : public KernelsTest {
 protected:
  Kernel kernel(const std::string& parameters) {
    return SourceModule("__global__ void k(" + parameters + ") {}").get_function("k");
  }
  template <class... Args>
  void call(const Kernel& function, const Args&... args) {
    function({}, {KernelArg(args)...});
  }
  /// The message of the E that a call must throw before it launches.
  template <class E = KernelArgumentError, class... Args>
  std::string refusal(const Kernel& function, const Args&... args) {
    const std::size_t launches = log_->launches.size();
    const std::string message = message_of<E>([&] { call(function, args...); });
    EXPECT_EQ(log_->launches.size(), launches) << "a refused call was launched";
    return message;
  }

  const Array x_ = empty({2, 3}, float32, gpu_);
  const Array y_ = empty({2, 3}, float32, gpu_);
};

}  // namespace spanwise::test
