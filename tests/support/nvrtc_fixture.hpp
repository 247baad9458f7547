// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "backends/cuda/compile/nvrtc.hpp"

namespace spanwise::test {

/// Fixture of tests that compile with NVRTC: they need no GPU, and are skipped where NVRTC is not
/// installed. `Base` is testing::Test or a testing::TestWithParam.
template <class Base = testing::Test>
class NvrtcTest : public Base {
 protected:
  void SetUp() override {
    Base::SetUp();
    if (!Base::IsSkipped() && cuda::nvrtc::installation()->library.empty())
      GTEST_SKIP() << "NVRTC is not installed";
  }
};

}  // namespace spanwise::test
