// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/nvrtc.hpp"

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

#include <type_traits>

namespace spanwise::cuda::nvrtc {
namespace {

// Passed alike: the same type, our int for their enumeration, our opaque program for theirs.
template <class Ours, class Theirs>
struct PassedAlike : std::is_same<Ours, Theirs> {};
template <>
struct PassedAlike<Result, nvrtcResult>
    : std::bool_constant<sizeof(nvrtcResult) == sizeof(Result)> {};
template <>
struct PassedAlike<Program, nvrtcProgram> : std::is_pointer<nvrtcProgram> {};
template <>
struct PassedAlike<Program*, nvrtcProgram*> : std::is_pointer<nvrtcProgram> {};

template <class Ours, class Theirs>
struct CalledAlike;
template <class R, class... A, class S, class... B>
struct CalledAlike<R (*)(A...), S (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && PassedAlike<R, S>::value &&
                         (PassedAlike<A, B>::value && ...)> {};

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
}  // namespace spanwise::cuda::nvrtc

#else
TEST(NvrtcPrototypes, AreThoseOfTheRealHeader) { GTEST_SKIP() << "nvrtc.h is not installed"; }
#endif
