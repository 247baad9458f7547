// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <thread>

#include "backends/cuda/cuda_transfer.hpp"
#include "cuda_device.hpp"

namespace spanwise::cuda {
namespace {

class CudaTransfer : public CudaTest {};

// Bytes that differ from those of other seeds.
std::vector<unsigned char> pattern(std::size_t size, unsigned seed) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<unsigned char>(i * 2654435761u + seed);
  return bytes;
}

TEST_F(CudaTransfer, RoundTripPreservesBytes) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4097}, StagingArea::buffer_bytes - 1, StagingArea::buffer_bytes,
        StagingArea::buffer_bytes + 1, StagingArea::piece_bytes, 2 * StagingArea::piece_bytes + 1,
        std::size_t{10} << 20, std::size_t{33} << 20}) {
    const std::vector<unsigned char> sent = pattern(size, 1);
    DeviceBytes block(size);
    block.put(sent.data());
    EXPECT_EQ(block.get<unsigned char>(), sent) << size;
  }
}

TEST_F(CudaTransfer, ZeroBytesMayHaveNullAddresses) {
  backend().upload(nullptr, nullptr, 0, *default_stream());
  backend().download(nullptr, nullptr, 0, *default_stream());
  backend().copy_peer(nullptr, 0, nullptr, 0, 0, *default_stream());
}

TEST_F(CudaTransfer, FillsWithWordsOfEachSize) {
  const unsigned char value[] = {1, 2, 3, 4};
  for (const int period : {1, 2, 4}) {
    std::vector<unsigned char> expected = pattern(4096, 4);
    DeviceBytes block(expected.size());
    block.put(expected.data());
    for (int i = 0; i < 1000 * period; ++i)
      expected[static_cast<std::size_t>(8 + i)] = value[i % period];
    EXPECT_TRUE(backend().fill_bytes(static_cast<unsigned char*>(block.data()) + 8, value, period,
                                     1000 * static_cast<std::size_t>(period), *default_stream()));
    EXPECT_EQ(block.get<unsigned char>(), expected) << period;
  }
}

TEST_F(CudaTransfer, SourceMayChangeWhenUploadReturns) {
  const Ref<runtime::LoadedKernel> writer = delayed_write();
  DeviceBytes flag(4);
  for (const std::size_t size : {std::size_t{100}, std::size_t{200000}, std::size_t{4} << 20}) {
    std::vector<unsigned char> host = pattern(size, 2);
    const std::vector<unsigned char> sent = host;
    DeviceBytes block(size);
    // The stream is busy, so the copy itself cannot have run yet where upload does not wait.
    launch(*writer, 1, *default_stream(), static_cast<int*>(flag.data()), 1, 20 * ns_per_ms);
    block.put(host.data());
    std::fill(host.begin(), host.end(), 0xee);
    EXPECT_EQ(block.get<unsigned char>(), sent) << size;
  }
}

TEST_F(CudaTransfer, SmallUploadsDoNotWaitForTheStream) {
  const Ref<runtime::LoadedKernel> writer = delayed_write();
  DeviceBytes flag(4), block(64);
  const std::vector<unsigned char> sent = pattern(64, 3);
  block.put(sent.data());  // allocates the staging buffer
  backend().synchronize(0);
  launch(*writer, 1, *default_stream(), static_cast<int*>(flag.data()), 1, 200 * ns_per_ms);
  block.put(sent.data());
  EXPECT_FALSE(default_stream()->query()) << "the kernel before the upload should still be running";
}

TEST_F(CudaTransfer, LargeUploadsThatFitTheStagingBuffersDoNotWaitForTheStream) {
  const Ref<runtime::LoadedKernel> writer = delayed_write();
  const std::size_t size = 3 * StagingArea::piece_bytes;
  DeviceBytes flag(4), block(size);
  const std::vector<unsigned char> first = pattern(size, 5), second = pattern(size, 6);
  block.put(first.data());  // allocates the staging buffers
  backend().synchronize(0);
  launch(*writer, 1, *default_stream(), static_cast<int*>(flag.data()), 1, 400 * ns_per_ms);
  block.put(second.data());
  EXPECT_FALSE(default_stream()->query()) << "the kernel before the upload should still be running";
  EXPECT_EQ(block.get<unsigned char>(), second);
}

TEST_F(CudaTransfer, LargeCopiesOfManyThreadsDoNotMix) {
  std::vector<std::thread> threads;
  std::atomic<int> mismatches{0};
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::size_t size = 5 * StagingArea::piece_bytes + 7;
      const Ref<runtime::StreamState> stream = backend().create_stream(0);
      void* data = backend().allocate(0, size, *stream);
      for (unsigned i = 0; i < 4; ++i) {
        const auto sent = pattern(size, t * 100 + i);
        std::vector<unsigned char> got(size, 0xa5);
        backend().upload(sent.data(), data, size, *stream);
        backend().download(data, got.data(), size, *stream);
        mismatches += got != sent;
      }
      backend().deallocate(0, data, size, *stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mismatches, 0);
}

TEST_F(CudaTransfer, MoreUploadsThanStagingBuffersStayInOrder) {
  const Ref<runtime::LoadedKernel> writer = delayed_write();
  DeviceBytes flag(4), block(1000);
  launch(*writer, 1, *default_stream(), static_cast<int*>(flag.data()), 1, 20 * ns_per_ms);
  for (unsigned i = 0; i < 40; ++i) block.put(pattern(1000, i).data());
  EXPECT_EQ(block.get<unsigned char>(), pattern(1000, 39));
}

TEST_F(CudaTransfer, UploadsOfManyThreadsDoNotMix) {
  std::vector<std::thread> threads;
  std::atomic<int> mismatches{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const Ref<runtime::StreamState> stream = backend().create_stream(0);
      void* data = backend().allocate(0, 50000, *stream);
      for (unsigned i = 0; i < 30; ++i) {
        const auto sent = pattern(50000, t * 100 + i);
        std::vector<unsigned char> got(sent.size());
        backend().upload(sent.data(), data, sent.size(), *stream);
        backend().download(data, got.data(), got.size(), *stream);
        mismatches += got != sent;
      }
      backend().deallocate(0, data, 50000, *stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mismatches, 0);
}

TEST_F(CudaTransfer, PinnedUploadsAreQueued) {
  CUcontext context = nullptr;
  ASSERT_EQ(driver().device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver().ctx_push_current(context), CUDA_SUCCESS);
  void* pinned = nullptr;
  ASSERT_EQ(driver().mem_host_alloc(&pinned, 4096, 0), CUDA_SUCCESS);
  driver().ctx_pop_current(&context);
  const auto sent = pattern(4096, 9);
  std::memcpy(pinned, sent.data(), sent.size());
  DeviceBytes block(4096);
  backend().upload_pinned(pinned, block.data(), 4096, *default_stream());
  EXPECT_EQ(block.get<unsigned char>(), sent);
}

TEST_F(CudaTransfer, RepeatedDownloadsOfOneSizeUsePinnedMemory) {
  constexpr std::size_t bytes = 3 << 20;
  const auto sent = pattern(bytes, 6);
  DeviceBytes block(bytes);
  block.put(sent.data());
  void* pinned = nullptr;
  for (int round = 0; round < 4 && pinned == nullptr; ++round)
    pinned = backend().allocate_pinned(0, bytes);
  ASSERT_NE(pinned, nullptr);
  EXPECT_EQ(device_of(pinned)->kind(), DeviceKind::cuda_host);
  void* const other = backend().allocate_pinned(0, bytes);
  EXPECT_NE(other, pinned);
  std::memset(pinned, 0xa5, bytes);
  backend().download(block.data(), pinned, bytes, *default_stream());
  EXPECT_EQ(std::memcmp(pinned, sent.data(), bytes), 0);
  backend().release_pinned(0, pinned, bytes);
  EXPECT_EQ(backend().allocate_pinned(0, bytes - 1), pinned);
  backend().release_pinned(0, pinned, bytes);
  backend().release_pinned(0, other, bytes);
  backend().trim(0);
  EXPECT_FALSE(device_of(pinned));
}

TEST_F(CudaTransfer, SmallAndHugeDownloadsUsePageableMemory) {
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(backend().allocate_pinned(0, 1000), nullptr);
    EXPECT_EQ(backend().allocate_pinned(0, std::size_t{1} << 30), nullptr);
  }
}

TEST_F(CudaTransfer, PeerCopyWithinOneDeviceIsACopy) {
  const auto sent = pattern(5000, 4);
  DeviceBytes from(5000), to(5000);
  from.put(sent.data());
  backend().copy_peer(from.data(), 0, to.data(), 0, 5000, *default_stream());
  EXPECT_EQ(to.get<unsigned char>(), sent);
}

TEST_F(CudaTransfer, PeerCopyCrossesDevicesInOrder) {
  if (backend().device_count() < 2) GTEST_SKIP() << "one device only";
  const auto sent = pattern(1 << 20, 5);
  DeviceBytes from(sent.size());
  from.put(sent.data());
  backend().synchronize(0);
  const Ref<runtime::StreamState> second_stream = backend().default_stream(1);
  void* to = backend().allocate(1, sent.size(), *second_stream);
  backend().copy_peer(from.data(), 0, to, 1, sent.size(), *second_stream);
  std::vector<unsigned char> got(sent.size());
  backend().download(to, got.data(), got.size(), *second_stream);
  EXPECT_EQ(got, sent);
  backend().deallocate(1, to, sent.size(), *second_stream);
  EXPECT_THROW(backend().copy_peer(from.data(), 0, to, 1, 1, *default_stream()), ArgumentError);
}

}  // namespace
}  // namespace spanwise::cuda
