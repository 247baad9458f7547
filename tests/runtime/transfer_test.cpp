// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "support/fake_devices.hpp"
#include "support/naive_loops.hpp"

/// Copies between devices: the number of transfers, their bytes, and on which device elements are
/// rearranged and cast.
namespace spanwise {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Complex = std::complex<double>;

class TransferTest : public test::RuntimeTest {
 protected:
  std::vector<std::string> log_of(const Array& source, const Array& target) {
    gpus().take_log();
    copy(source, target);
    return gpus().take_log();
  }
};

TEST_F(TransferTest, EqualDenseLayoutsAreTransferredDirectly) {
  const Array host = zeros({2, 3}, float32, cpu), device = zeros({2, 3}, float32, test::gpu),
              other = zeros({2, 3}, float32, test::second_gpu);
  EXPECT_THAT(log_of(host, device), ElementsAre("upload d0 24"));
  EXPECT_THAT(log_of(device, host), ElementsAre("download d0 24"));
  EXPECT_THAT(log_of(device, other),
              ElementsAre("record d0 e1", "wait d1 e1", "copy_peer d1 0->1 24"));
}

TEST_F(TransferTest, EqualLayoutsDenseInAnotherOrderAreTransferredDirectly) {
  const Array host = zeros({4, 2, 3}, float32, cpu), device = zeros({4, 2, 3}, float32, test::gpu);
  const int axes[] = {1, 2, 0};
  EXPECT_THAT(log_of(host.permute(axes), device.permute(axes)), ElementsAre("upload d0 96"));
  const Slice backwards{{}, {}, -1};
  EXPECT_THAT(log_of(device.slice(1, backwards), host.slice(1, backwards)),
              ElementsAre("download d0 96"));
}

TEST_F(TransferTest, TheGpuPermutesAxes) {
  const Array host = zeros({2, 3}, float32, cpu), device = zeros({3, 2}, float32, test::gpu);
  EXPECT_THAT(log_of(host.transpose(), device),
              ElementsAre("allocate d0 24", "upload d0 24", "copy d0", "deallocate d0"));
  EXPECT_THAT(log_of(device.transpose(), host),
              ElementsAre("allocate d0 24", "copy d0", "download d0 24", "deallocate d0"));
}

TEST_F(TransferTest, GapsAreNotTransferred) {
  const Array host = zeros({10, 3}, float32, cpu), device = zeros({10, 3}, float32, test::gpu);
  const Slice second_column{1, 2, 1};
  EXPECT_THAT(log_of(host.slice(1, second_column), device.slice(1, second_column)),
              ElementsAre("allocate d0 40", "upload d0 40", "copy d0", "deallocate d0"));
  EXPECT_THAT(log_of(device.slice(1, second_column), host.slice(1, second_column)),
              ElementsAre("allocate d0 40", "copy d0", "download d0 40", "deallocate d0"));
}

// While one slice is transferred, the host packs the next. A slice has as many rows as fit in 2
// MiB: 524 rows of 4000 bytes.
TEST_F(TransferTest, HostPackedDataIsTransferredInSlices) {
  const Array host = full({2100, 1001}, 1.0f, float32, cpu),
              device = zeros({2100, 1000}, float32, test::gpu);
  fill(host.index(0, 700), 7.0f);
  fill(host.index(0, 2099), 9.0f);
  EXPECT_THAT(log_of(host.slice(1, {1, 1001, 1}), device),
              ElementsAre("upload d0 2096000", "upload d0 2096000", "upload d0 2096000",
                          "upload d0 2096000", "upload d0 16000"));
  const std::pair<int, double> rows[] = {{0, 1},   {699, 1},  {700, 7},
                                         {701, 1}, {2098, 1}, {2099, 9}};
  for (const auto& [row, value] : rows) {
    EXPECT_EQ(item(device.index(0, row).index(0, 0)).as_double(), value) << row;
    EXPECT_EQ(item(device.index(0, row).index(0, 999)).as_double(), value) << row;
  }
}

TEST_F(TransferTest, CastsOnTheSideThatTransfersFewerBytes) {
  const Array small = zeros({6}, uint8, cpu), large = zeros({6}, float64, cpu);
  const Array small_device = zeros({6}, uint8, test::gpu),
              large_device = zeros({6}, float64, test::gpu);
  EXPECT_THAT(log_of(small, large_device),
              ElementsAre("allocate d0 6", "upload d0 6", "copy d0", "deallocate d0"));
  EXPECT_THAT(log_of(large, small_device), ElementsAre("upload d0 6"));
  EXPECT_THAT(log_of(small_device, large), ElementsAre("download d0 6"));
  EXPECT_THAT(log_of(large_device, small),
              ElementsAre("allocate d0 6", "copy d0", "download d0 6", "deallocate d0"));
}

TEST_F(TransferTest, TheGpuCastsBetweenEqualSizes) {
  const Array host = zeros({6}, int32, cpu), device = zeros({6}, float32, test::gpu);
  EXPECT_THAT(log_of(host, device),
              ElementsAre("allocate d0 24", "upload d0 24", "copy d0", "deallocate d0"));
  EXPECT_THAT(log_of(device, host),
              ElementsAre("allocate d0 24", "copy d0", "download d0 24", "deallocate d0"));
}

TEST_F(TransferTest, BroadcastElementsAreTransferredOnce) {
  const Array scalar = full({1}, 5.0f, float32, cpu),
              device = zeros({100, 100}, float32, test::gpu);
  const auto once = ElementsAre("allocate d0 4", "upload d0 4", "copy d0", "deallocate d0");
  EXPECT_THAT(log_of(scalar, device), once);
  EXPECT_THAT(log_of(scalar.broadcast_to({100, 100}), device), once);
  EXPECT_EQ(item(device.index(0, 99).index(0, 99)).as_double(), 5.0);
}

TEST_F(TransferTest, PageableMemoryMayBeChangedAfterTheCopyReturns) {
  const Array host = full({4}, 1.0f, float32, cpu);
  const Array device = to_device(host, test::gpu);
  fill(host, 2.0f);
  EXPECT_THAT(test::values(to_device(device, cpu)), Each(Complex(1)));
}

// Pinned memory is read asynchronously, so writing or releasing it must wait.
TEST_F(TransferTest, WriteToPinnedMemoryWaitsForItsTransfer) {
  static float memory[4] = {1, 1, 1, 1};
  static bool release_got_stream = false;
  const Stream stream = Stream::create(test::gpu);
  const Array device = empty({4}, float32, test::gpu);
  {
    const auto release = [](void*, void*, std::size_t, StreamUses& uses) noexcept {
      release_got_stream = uses.all().size() == 1;
    };
    const Array pinned(
        Storage::adopt(memory, sizeof memory, Device(DeviceKind::cuda_host), release, nullptr),
        Layout::row_major({4}), float32);
    const StreamGuard guard(stream);
    gpus().take_log();
    copy(pinned, device);
    EXPECT_THAT(gpus().take_log(),
                ElementsAre("record d0 e1", "wait s1 e1", "upload_pinned s1 16"));
    EXPECT_FALSE(stream.query());
    fill(pinned, 2.0f);
    EXPECT_EQ(memory[0], 2.0f);
  }
  EXPECT_TRUE(release_got_stream) << "the release function was not passed the stream";
  EXPECT_THAT(test::values(to_device(device, cpu)), Each(Complex(1)));
}

TEST_F(TransferTest, ManagedMemoryIsCopiedAsHostMemory) {
  static float memory[4] = {1, 2, 3, 4};
  const Array managed(
      Storage::adopt(memory, sizeof memory, Device(DeviceKind::cuda_managed), nullptr, nullptr),
      Layout::row_major({4}), float32);
  const Array host = to_device(managed, cpu);
  EXPECT_EQ(host.device(), cpu);
  EXPECT_EQ(test::values(host), test::values(managed));
  const Array device = to_device(managed, test::gpu);
  EXPECT_EQ(test::values(to_device(device, cpu)), test::values(managed));
  // The device writes to it, and the host reads after that.
  order_use(Stream::current(test::gpu), managed, true);
  test::RecordingBackend::loops.fill(managed, Scalar(7.0f), Stream::current(test::gpu).state());
  EXPECT_THAT(test::values(copy(managed)), Each(Complex(7)));
  EXPECT_EQ(copy(managed).device(), cpu);
  EXPECT_EQ(item(managed.index(0, 2)).as_double(), 7.0);
}

}  // namespace
}  // namespace spanwise
