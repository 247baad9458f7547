// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/compile/nvrtc.hpp"

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

#include "prototypes.hpp"

namespace spanwise::cuda {

template <>
struct IsSameAbi<nvrtc::Program, nvrtcProgram> : std::is_pointer<nvrtcProgram> {};
template <>
struct IsSameAbi<nvrtc::Program*, nvrtcProgram*> : std::is_pointer<nvrtcProgram> {};

namespace nvrtc {
namespace {

#define SW_COMPARE(name, function, ...)                                              \
  static_assert(HasSameSignature<decltype(Api::name), decltype(&::function)>::value, \
                #function " is declared differently in nvrtc.h");
SW_NVRTC_FUNCTIONS(SW_COMPARE)
#undef SW_COMPARE

static_assert(success == NVRTC_SUCCESS);
static_assert(invalid_option == NVRTC_ERROR_INVALID_OPTION);
static_assert(compilation_error == NVRTC_ERROR_COMPILATION);

TEST(NvrtcPrototypes, MatchTheHeader) { SUCCEED() << "compared at compile time"; }

}  // namespace
}  // namespace nvrtc
}  // namespace spanwise::cuda

#else
TEST(NvrtcPrototypes, MatchTheHeader) { GTEST_SKIP() << "nvrtc.h is not installed"; }
#endif
