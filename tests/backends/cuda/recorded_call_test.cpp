// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Work of a stream that is recorded and repeated as one CUDA graph, with copies before and after.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "cuda_device.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {
namespace {

using runtime::RecordedCall;
using runtime::StreamState;

class CudaRecordedCallTest : public CudaTest {
 protected:
  // result = 4 * input + 1, of two arrays of ints, by work on `stream`.
  void multiply(StreamState& stream, DeviceBytes& input, DeviceBytes& result) {
    launch(*copy_int(), 1, stream, static_cast<const int*>(input.data()),
           static_cast<int*>(result.data()));
    for (int i = 0; i < 2; ++i) launch(*doubled_, 1, stream, static_cast<int*>(result.data()), i);
  }
  void expect_repeats(const Ref<StreamState>& stream) {
    doubled_ =
        load_kernel("__global__ void doubled(int* x, int i) { *x = 2 * *x + i; }\n", "doubled");
    DeviceBytes input(4), result(4);
    const std::array<DeviceBytes, 2> from{DeviceBytes(4), DeviceBytes(4)},
        to{DeviceBytes(4), DeviceBytes(4)};
    multiply(*stream, input, result);  // loads the kernels
    const Ref<RecordedCall> call = backend().recorded_call(0);
    ASSERT_TRUE(call->begin(*stream));
    EXPECT_TRUE(stream->is_captured());
    std::thread([&] { EXPECT_FALSE(stream->is_captured()); }).join();
    multiply(*stream, input, result);
    const auto before = [&](int i) {
      return RecordedCall::Copy{from[static_cast<std::size_t>(i)].data(), input.data(), 4};
    };
    const auto after = [&](int i) {
      return RecordedCall::Copy{result.data(), to[static_cast<std::size_t>(i)].data(), 4};
    };
    const std::array first{before(0)}, last{after(0)};
    ASSERT_TRUE(call->end(first, last));
    EXPECT_FALSE(stream->is_captured());
    for (int round = 0; round < 20; ++round) {
      const int value = 100 + round, untouched = -1;
      const auto i = static_cast<std::size_t>(round % 2);
      backend().upload(&value, from[i].data(), 4, *stream);
      backend().upload(&untouched, to[1 - i].data(), 4, *stream);
      const std::array copies_in{before(round % 2)}, copies_out{after(round % 2)};
      ASSERT_TRUE(call->launch(copies_in, copies_out));
      int got = 0;
      backend().download(to[i].data(), &got, 4, *stream);
      EXPECT_EQ(got, 4 * value + 1);
      backend().download(to[1 - i].data(), &got, 4, *stream);
      EXPECT_EQ(got, -1);
    }
  }

  Ref<runtime::LoadedKernel> doubled_;
};

TEST_F(CudaRecordedCallTest, RepeatsWorkOfTheLegacyStream) { expect_repeats(default_stream()); }

TEST_F(CudaRecordedCallTest, RepeatsWorkOfAStream) { expect_repeats(backend().create_stream(0)); }

TEST_F(CudaRecordedCallTest, RefusesCopiesOfTheHostAndRecoversFromErrors) {
  DeviceBytes bytes(4);
  const Ref<StreamState> stream = backend().create_stream(0);
  {
    const Ref<RecordedCall> call = backend().recorded_call(0);
    ASSERT_TRUE(call->begin(*stream));
    const int value = 5;
    EXPECT_THROW(backend().upload(&value, bytes.data(), 4, *stream), DeviceError);
    EXPECT_FALSE(backend().recorded_call(0)->begin(*stream));
    call->abort();
  }
  EXPECT_FALSE(stream->is_captured());
  const int value = 7;
  backend().upload(&value, bytes.data(), 4, *stream);
  int got = 0;
  backend().download(bytes.data(), &got, 4, *stream);
  EXPECT_EQ(got, 7);
}

TEST_F(CudaRecordedCallTest, NothingRecordedCannotBeRepeated) {
  const Ref<StreamState> stream = backend().create_stream(0);
  const Ref<RecordedCall> call = backend().recorded_call(0);
  ASSERT_TRUE(call->begin(*stream));
  EXPECT_FALSE(call->end({}, {}));
  EXPECT_TRUE(stream->query());
}

}  // namespace
}  // namespace spanwise::cuda
