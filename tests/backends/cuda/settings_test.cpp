// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_module.hpp"
#include "backends/cuda/device_context.hpp"
#include "backends/cuda/driver.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cuda {
namespace {

constexpr std::int64_t free_bytes = std::int64_t{80} << 30;

TEST(Preallocate, NumbersUpToOneAreFractionsOfFreeMemory) {
  EXPECT_EQ(preallocate_bytes("0", free_bytes), 0);
  EXPECT_EQ(preallocate_bytes("", free_bytes), 0);
  EXPECT_EQ(preallocate_bytes("0.5", free_bytes), free_bytes / 2);
  EXPECT_EQ(preallocate_bytes("1", free_bytes), free_bytes);
}

TEST(Preallocate, LargerNumbersAreSizes) {
  EXPECT_EQ(preallocate_bytes("4096", free_bytes), 4096);
  EXPECT_EQ(preallocate_bytes("8GiB", free_bytes), std::int64_t{8} << 30);
  EXPECT_EQ(preallocate_bytes("1.5 MiB", free_bytes), 3 << 19);
  EXPECT_EQ(preallocate_bytes("2GB", free_bytes), 2000000000);
  EXPECT_EQ(preallocate_bytes("0.5GiB", free_bytes), 1 << 29);
}

TEST(Preallocate, AnythingElseIsRefused) {
  for (const char* value : {"much", "-1", "3 bananas", "nan", "1e40", "8GiBs", "0x10"}) {
    EXPECT_THROW(preallocate_bytes(value, free_bytes), ArgumentError) << value;
  }
}

TEST(Preallocate, IsASettingThatChecksItsValue) {
  EXPECT_THROW(config::set("preallocate", "much"), ArgumentError);
  EXPECT_EQ(config::get("preallocate"), "0");
}

TEST(BytesText, UsesTheLargestUnitBelowTheSize) {
  EXPECT_EQ(bytes_text(17), "17 bytes");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 29), "1.50 GiB");
}

class LaunchLimitsTest : public testing::Test {
 protected:
  LaunchLimitsTest() {
    device_.name = "a GPU";
    device_.max_shared_bytes_optin = 232448;
    limits_ = {&device_, 512, 1024};
  }
  std::string refusal(Dim3 grid, Dim3 block, std::int64_t shared = 0) const {
    if (limits_.allows(grid, block, shared)) return "allowed";
    try {
      limits_.refuse("image::blur", grid, block, shared);
    } catch (const KernelArgumentError& error) {
      return error.what();
    }
  }
  static void expect_words(const std::string& message, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
  }

  DeviceProperties device_;
  LaunchLimits limits_;
};

TEST_F(LaunchLimitsTest, AreTheMinimumOfDeviceAndKernel) {
  EXPECT_TRUE(limits_.allows({1, 1, 1}, {512, 1, 1}, 0));
  EXPECT_TRUE(limits_.allows({2147483647, 65535, 65535}, {8, 8, 8}, 232448 - 1024));
}

TEST_F(LaunchLimitsTest, NameTheLimitThatALaunchIsOver) {
  expect_words(refusal({1, 1, 1}, {2048, 1, 1}),
               {"image::blur", "a GPU", "block (2048, 1, 1)", "1024"});
  expect_words(refusal({1, 1, 1}, {1, 1, 65}), {"z = 65", "at most 64"});
  expect_words(refusal({1, 1, 1}, {32, 32, 1}), {"1024 threads", "at most 512", "registers"});
  expect_words(refusal({1, 65536, 1}, {1, 1, 1}), {"grid", "y = 65536", "65535"});
  expect_words(refusal({0, 1, 1}, {1, 1, 1}), {"grid", "x = 0", "at least 1"});
  expect_words(refusal({1, 1, 1}, {1, -1, 1}), {"block", "y = -1", "at least 1"});
  expect_words(refusal({1, 1, 1}, {1, 1, 1}, 232448),
               {"shared = 232448", "1024", "232448 that a block"});
  expect_words(refusal({1, 1, 1}, {1, 1, 1}, -5), {"shared = -5", "negative"});
}

TEST(Check, ErrorHasCodeNameAndOperation) {
  // The driver provides the error text; fakes replace its two functions here.
  DriverApi api;
  api.get_error_name = [](CUresult, const char** out) {
    *out = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return CUDA_SUCCESS;
  };
  api.get_error_string = [](CUresult, const char** out) {
    *out = "an illegal memory access was encountered";
    return CUDA_SUCCESS;
  };
  EXPECT_NO_THROW(check(api, CUDA_SUCCESS, "nothing"));
  try {
    check(api, CUDA_ERROR_ILLEGAL_ADDRESS, "launching kernel ", "blur", " on cuda:0");
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), 700);
    EXPECT_EQ(error.name(), "CUDA_ERROR_ILLEGAL_ADDRESS");
    const std::string message = error.what();
    for (const char* word : {"launching kernel blur on cuda:0", "illegal memory access", "700",
                             "restarted", "compute-sanitizer"}) {
      EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  }
  EXPECT_THROW(check(api, CUDA_ERROR_OUT_OF_MEMORY, "x"), OutOfMemoryError);
}

// What cuStreamIsCapturing returns, in the place of the driver.
CUresult query_result = CUDA_SUCCESS;
CUstreamCaptureStatus query_status = CU_STREAM_CAPTURE_STATUS_NONE;

TEST(IsCapturing, OnlyACaptureCountsAsOneAndNotALostContext) {
  DriverApi api;
  api.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = query_status;
    return query_result;
  };
  const auto capturing = [&](CUresult result, CUstreamCaptureStatus status) {
    query_result = result, query_status = status;
    return is_capturing(api, nullptr);
  };
  EXPECT_FALSE(capturing(CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_NONE));
  EXPECT_TRUE(capturing(CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_ACTIVE));
  EXPECT_TRUE(capturing(CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_INVALIDATED));
  // Of the legacy stream while another stream is captured.
  EXPECT_TRUE(capturing(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU_STREAM_CAPTURE_STATUS_NONE));
  for (const CUresult lost :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ASSERT,
        CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_HANDLE})
    EXPECT_FALSE(capturing(lost, CU_STREAM_CAPTURE_STATUS_NONE)) << lost;
}

}  // namespace
}  // namespace spanwise::cuda
