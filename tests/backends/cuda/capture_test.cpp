// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Ordering of work must keep working while a stream is captured into a CUDA graph.
#include <optional>

#include "cuda_capture.hpp"
#include "cuda_device.hpp"
#include "runtime/allocation.hpp"

namespace spanwise::cuda {
namespace {

using runtime::StreamState;

class CudaCapture : public CaptureTest {};

TEST_F(CudaCapture, LaunchesAndForksBecomeNodes) {
  DeviceBytes a(4), b(4), c(4);
  const int one = 1, zero = 0;
  a.put(&zero), b.put(&zero), c.put(&zero);
  backend().synchronize(0);
  Capture capture(*stream_);
  launch(*copy_int(), 1, *stream_, static_cast<int*>(a.data()), static_cast<int*>(b.data()));
  side_->wait(*stream_->record(false));  // the side stream joins the capture
  launch(*copy_int(), 1, *side_, static_cast<int*>(b.data()), static_cast<int*>(c.data()));
  stream_->wait(*side_->record(false));
  ASSERT_EQ(capture.end(), CUDA_SUCCESS);
  EXPECT_EQ(capture.node_count(), 2u);
  EXPECT_EQ(c.get<int>()[0], 0) << "captured, not run";
  a.put(&one);
  backend().synchronize(0);
  capture.run();
  EXPECT_EQ(c.get<int>()[0], 1);
}

// Outside of captures such a kernel is launched as a graph of one node.
TEST_F(CudaCapture, AKernelThatIsLaunchedOftenBecomesAPlainNode) {
  const ScopedLaunchConfig setting("graph");
  DeviceBytes a(4), b(4);
  const auto* from = static_cast<int*>(a.data());
  const auto* to = static_cast<int*>(b.data());
  for (int i = 0; i < 100; ++i) launch(*copy_int(), 1, *stream_, from, to);
  backend().synchronize(0);
  Capture capture(*stream_);
  launch(*copy_int(), 1, *stream_, from, to);
  ASSERT_EQ(capture.end(), CUDA_SUCCESS);
  EXPECT_EQ(capture.node_count(), 1u);
  for (const int value : {3, 4}) {
    a.put(&value);
    backend().synchronize(0);
    capture.run();
    EXPECT_EQ(b.get<int>()[0], value);
  }
  launch(*delayed_write(), 1, *stream_, from, 5, 0LL);
  launch(*copy_int(), 1, *stream_, from, to);
  stream_->synchronize();
  EXPECT_EQ(b.get<int>()[0], 5);
}

TEST_F(CudaCapture, WaitingForAnEventFromBeforeTheCaptureIsLegal) {
  DeviceBytes a(4), b(4);
  const int zero = 0;
  a.put(&zero), b.put(&zero);
  backend().synchronize(0);
  launch(*delayed_write(), 1, *side_, static_cast<int*>(a.data()), 5, 30 * ns_per_ms);
  const Ref<runtime::EventState> event = side_->record(false);
  Capture capture(*stream_);
  stream_->wait(*event);
  launch(*copy_int(), 1, *stream_, static_cast<int*>(a.data()), static_cast<int*>(b.data()));
  ASSERT_EQ(capture.end(), CUDA_SUCCESS);
  capture.run();
  EXPECT_EQ(b.get<int>()[0], 5);
}

TEST_F(CudaCapture, AllocationsAreNotCaptured) {
  Storage before = runtime::allocate_on(*stream_, 1 << 20);
  stream_->synchronize();
  Capture capture(*stream_);
  const Storage during = runtime::allocate_on(*stream_, 1 << 20);
  before = {};
  launch(*delayed_write(), 1, *stream_, static_cast<int*>(during.data()), 8, 0LL);
  ASSERT_EQ(capture.end(), CUDA_SUCCESS);
  EXPECT_EQ(capture.node_count(), 1u);
  capture.run();
  int got = 0;
  backend().download(during.data(), &got, 4, *stream_);
  EXPECT_EQ(got, 8);
}

TEST_F(CudaCapture, CopiesAndFillsBecomeNodes) {
  DeviceBytes a(1024), b(1024);
  const Array source = a.array(Layout::row_major({16, 16}).transpose(), float32);
  const Array target = b.array(Layout::row_major({16, 16}), float32);
  loops().copy(source, target, *stream_);  // compiles
  backend().synchronize(0);
  Capture capture(*stream_);
  loops().fill(a.array(Layout::row_major({256}), float32), Scalar(2.0f), *stream_);
  loops().copy(source, target, *stream_);
  ASSERT_EQ(capture.end(), CUDA_SUCCESS);
  EXPECT_EQ(capture.node_count(), 2u);
  capture.run();
  EXPECT_EQ(b.get<float>(), std::vector<float>(256, 2.0f));
}

TEST_F(CudaCapture, HostCopiesOnTheCapturedStreamAreRefused) {
  DeviceBytes a(4);
  int value = 3;
  Capture capture(*stream_);
  EXPECT_THROW(backend().upload(&value, a.data(), 4, *stream_), DeviceError);
  EXPECT_THROW(backend().download(a.data(), &value, 4, *stream_), DeviceError);
  EXPECT_EQ(capture.end(), CUDA_SUCCESS) << "the refused copies must not invalidate the capture";
}

TEST_F(CudaCapture, OtherStreamsRunDuringACapture) {
  SKIP_UNDER_TOOLS("calls on other streams invalidate the capture");
  DeviceBytes a(4);
  const int sent = 6;
  int got = 0;
  Capture capture(*stream_);
  backend().upload(&sent, a.data(), 4, *side_);
  backend().download(a.data(), &got, 4, *side_);
  void* block = backend().allocate(0, 4096, *side_);
  backend().deallocate(0, block, 4096, *side_);
  load_kernel("__global__ void fresh() {}\n", "fresh");
  EXPECT_EQ(got, 6);
  EXPECT_EQ(capture.end(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace spanwise::cuda
