// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::cuda {
namespace {

DriverStatus load(const char* file) { return load_driver(std::array{file}); }

TEST(CudaDriver, AbsentLibraryIsReportedAsTheReason) {
  const DriverStatus status = load("libcuda-that-is-not-there.so");
  EXPECT_FALSE(status.usable);
  EXPECT_EQ(status.device_count, 0);
  EXPECT_EQ(status.version, 0);
  EXPECT_NE(status.unavailable_reason.find("libcuda-that-is-not-there.so"), std::string::npos);
  EXPECT_NE(status.unavailable_reason.find("install the NVIDIA driver"), std::string::npos);
  EXPECT_EQ(status.unavailable_reason.find('\n'), std::string::npos);
}

TEST(CudaDriver, LibraryWithoutTheEntryPointIsTooOldAndTheErrorNamesTheVersion) {
  const DriverStatus status = load("libm.so.6");
  EXPECT_FALSE(status.usable);
  EXPECT_NE(status.unavailable_reason.find("12.4"), std::string::npos) << status.unavailable_reason;
  EXPECT_NE(status.unavailable_reason.find("too old"), std::string::npos)
      << status.unavailable_reason;
}

TEST(CudaDriver, ToolkitStubIsNotUsedAsADriver) {
  // The stub has the driver's file name and must not be loaded by a process that needs the driver.
  if (why_no_cuda().empty()) GTEST_SKIP() << "there is a driver";
  const char* stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "no toolkit with a stub library";
  const DriverStatus status = load(stub);
  EXPECT_FALSE(status.usable);
  EXPECT_FALSE(status.unavailable_reason.empty());
}

TEST(CudaDriver, TheSecondNameIsTriedWhereTheFirstIsAbsent) {
  const DriverStatus status = load_driver(std::array{"libcuda-that-is-not-there.so", "libm.so.6"});
  EXPECT_NE(status.unavailable_reason.find("too old"), std::string::npos)
      << status.unavailable_reason;
}

TEST(CudaDriver, VersionsAreShownAsNvidiaWritesThem) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12040), "12.4");
  EXPECT_EQ(version_text(11080), "11.8");
}

TEST(CudaBackend, IsRegisteredAndGivesTheReasonForNoDevices) {
  runtime::Backend* backend = runtime::find_backend(DeviceKind::cuda);
  ASSERT_NE(backend, nullptr);
  const int count = backend->device_count();
  EXPECT_EQ(count == 0, !backend->unavailable_reason().empty());
  EXPECT_EQ(why_no_cuda(), backend->unavailable_reason());
}

TEST(CudaBackend, WithoutADeviceEachCallThrowsADeviceErrorWithTheReason) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "there is a device";
  runtime::Backend& backend = *runtime::find_backend(DeviceKind::cuda);
  try {
    backend.create_stream(0);
    FAIL() << "expected a DeviceError";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(backend.unavailable_reason()), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(backend.properties(0), DeviceError);
  EXPECT_THROW(backend.memory(0), DeviceError);
  EXPECT_THROW(backend.default_stream(0), DeviceError);
  EXPECT_THROW(backend.synchronize(0), DeviceError);
  int local = 0;
  EXPECT_EQ(backend.device_of(&local), std::nullopt);
  EXPECT_FALSE(backend.context_of(&local).has_value());
}

// Simulates a child of fork(): the handler of fork() sets this flag in the child.
class ForkedChild {
 public:
  ForkedChild() { forked_after_start = true; }
  ~ForkedChild() { forked_after_start = false; }
};

TEST(CudaBackend, ForkedChildHasNoDevicesAndTheErrorSuggestsSpawn) {
  runtime::Backend& backend = *runtime::find_backend(DeviceKind::cuda);
  const ForkedChild child;
  EXPECT_EQ(backend.device_count(), 0);
  EXPECT_NE(backend.unavailable_reason().find("forked"), std::string::npos);
  EXPECT_NE(backend.unavailable_reason().find("spawn"), std::string::npos);
  EXPECT_THROW(backend.create_stream(0), DeviceError);
}

}  // namespace
}  // namespace spanwise::cuda
