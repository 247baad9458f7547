// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "collectives/nccl.hpp"

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>

#include <cstddef>

#include "backends/cuda/prototypes.hpp"

namespace spanwise::cuda {

template <>
struct IsSameAbi<nccl::Comm, ncclComm_t> : std::true_type {};
template <>
struct IsSameAbi<nccl::Comm*, ncclComm_t*> : std::true_type {};
template <>
struct IsSameAbi<nccl::UniqueId, ncclUniqueId>
    : std::bool_constant<sizeof(nccl::UniqueId) == sizeof(ncclUniqueId)> {};
template <>
struct IsSameAbi<nccl::UniqueId*, ncclUniqueId*> : std::true_type {};
template <>
struct IsSameAbi<nccl::Config*, ncclConfig_t*> : std::true_type {};
template <>
struct IsSameAbi<nccl::Result*, ncclResult_t*> : std::true_type {};
template <>
struct IsSameAbi<nccl::Stream, cudaStream_t> : std::true_type {};

}  // namespace spanwise::cuda

namespace spanwise::nccl {
namespace {

using cuda::HasSameSignature;

#define SW_COMPARE(name, function, ...)                                              \
  static_assert(HasSameSignature<decltype(Api::name), decltype(&::function)>::value, \
                #function " is declared differently in nccl.h");
SW_NCCL_FUNCTIONS(SW_COMPARE)
#if NCCL_VERSION_CODE >= 22800
SW_NCCL_NEWER_FUNCTIONS(SW_COMPARE)
#endif
#undef SW_COMPARE

static_assert(success == ncclSuccess && in_progress == ncclInProgress);
static_assert(int8 == ncclInt8 && uint8 == ncclUint8 && int32 == ncclInt32 &&
              uint32 == ncclUint32 && int64 == ncclInt64 && uint64 == ncclUint64);
static_assert(float16 == ncclFloat16 && float32 == ncclFloat32 && float64 == ncclFloat64 &&
              bfloat16 == ncclBfloat16);
static_assert(sum == ncclSum && prod == ncclProd && max == ncclMax && min == ncclMin &&
              average == ncclAvg);
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size) &&
              offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize) &&
              offsetof(Config, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));

TEST(NcclPrototypes, MatchTheHeader) {
  const ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(Config{}.magic, initial.magic);
  EXPECT_EQ(Config{}.split_share, initial.splitShare);
  EXPECT_EQ(Config{}.net_name, initial.netName);
}

}  // namespace
}  // namespace spanwise::nccl

#else
TEST(NcclPrototypes, MatchTheHeader) { GTEST_SKIP() << "nccl.h is not installed"; }
#endif
