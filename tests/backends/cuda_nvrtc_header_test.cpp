// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/compile/nvrtc.hpp"

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

#include "prototypes.hpp"

namespace spanwise::cuda {

template <>
struct PassedAlike<nvrtc::Program, nvrtcProgram> : std::is_pointer<nvrtcProgram> {};
template <>
struct PassedAlike<nvrtc::Program*, nvrtcProgram*> : std::is_pointer<nvrtcProgram> {};

namespace nvrtc {
namespace {

#define SW_COMPARE(name, function, ...)                                         \
  static_assert(CalledAlike<decltype(Api::name), decltype(&::function)>::value, \
                #function " is declared otherwise in nvrtc.h");
SW_NVRTC_FUNCTIONS(SW_COMPARE)
#undef SW_COMPARE

static_assert(success == NVRTC_SUCCESS);
static_assert(invalid_option == NVRTC_ERROR_INVALID_OPTION);
static_assert(compilation == NVRTC_ERROR_COMPILATION);

TEST(NvrtcPrototypes, AreThoseOfTheRealHeader) { SUCCEED() << "compared when this was compiled"; }

}  // namespace
}  // namespace nvrtc
}  // namespace spanwise::cuda

#else
TEST(NvrtcPrototypes, AreThoseOfTheRealHeader) { GTEST_SKIP() << "nvrtc.h is not installed"; }
#endif
