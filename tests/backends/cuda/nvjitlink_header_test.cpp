// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/compile/cuda_linker.hpp"

#if __has_include(<nvJitLink.h>)
#include <nvJitLink.h>

#include "prototypes.hpp"

namespace spanwise::cuda {

template <>
struct IsSameAbi<nvjitlink::Link, nvJitLinkHandle> : std::is_pointer<nvJitLinkHandle> {};
template <>
struct IsSameAbi<nvjitlink::Link*, nvJitLinkHandle*> : std::is_pointer<nvJitLinkHandle> {};

namespace nvjitlink {
namespace {

// The header's names are inline functions around ones with a version in their names.
#define SW_COMPARE(name, function, ...)                                              \
  static_assert(HasSameSignature<decltype(Api::name), decltype(&::function)>::value, \
                #function " is declared differently in nvJitLink.h");
SW_NVJITLINK_FUNCTIONS(SW_COMPARE)
#undef SW_COMPARE

static_assert(success == NVJITLINK_SUCCESS);
static_assert(cubin_input == NVJITLINK_INPUT_CUBIN && ptx_input == NVJITLINK_INPUT_PTX &&
              lto_ir_input == NVJITLINK_INPUT_LTOIR && fat_binary_input == NVJITLINK_INPUT_FATBIN &&
              object_input == NVJITLINK_INPUT_OBJECT && archive_input == NVJITLINK_INPUT_LIBRARY);

TEST(NvjitlinkPrototypes, MatchTheHeader) { SUCCEED() << "compared at compile time"; }

}  // namespace
}  // namespace nvjitlink
}  // namespace spanwise::cuda

#else
TEST(NvjitlinkPrototypes, MatchTheHeader) { GTEST_SKIP() << "nvJitLink.h is not installed"; }
#endif
