// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Streams that another library destroys while memory that was used on them still exists.
#include <vector>

#include "backends/cuda/device_context.hpp"
#include "cuda_device.hpp"
#include "runtime/allocation.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::cuda {
namespace {

using runtime::StreamState;

class CudaForeignStreams : public CudaTest {};

// Creates and destroys a stream as another library does.
class ForeignStreamOwner {
 public:
  ForeignStreamOwner() {
    const ContextGuard guard(DeviceContext::of(0));
    EXPECT_EQ(driver().stream_create(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  ~ForeignStreamOwner() { destroy(); }
  std::uintptr_t handle() const { return reinterpret_cast<std::uintptr_t>(stream_); }
  // Destroys the stream, and creates idle streams that may get its address.
  void destroy() {
    const ContextGuard guard(DeviceContext::of(0));
    if (stream_ != nullptr) {
      EXPECT_EQ(driver().stream_destroy(stream_), CUDA_SUCCESS);
    }
    stream_ = nullptr;
    for (int i = 0; i < 40; ++i) successors_.push_back(backend_of_gpu().create_stream(0));
  }

 private:
  static runtime::Backend& backend_of_gpu() { return runtime::backend_for(gpu); }
  CUstream stream_ = nullptr;
  std::vector<Ref<StreamState>> successors_;
};

TEST_F(CudaForeignStreams, WorkOnADestroyedForeignStreamIsWaitedFor) {
  const Ref<StreamState> reader = backend().create_stream(0);
  for (int round = 1; round <= 10; ++round) {
    DeviceBytes value(4), seen(4);
    const int zero = 0;
    value.put(&zero);
    backend().synchronize(0);
    const Storage storage = Storage::adopt(value.data(), 4, gpu, nullptr, nullptr);
    ForeignStreamOwner owner;
    {
      const Stream foreign = Stream::foreign(gpu, owner.handle());
      runtime::order_use(foreign.state(), storage, true);
      launch(*delayed_write(), 1, foreign.state(), static_cast<int*>(value.data()), round,
             30 * ns_per_ms);
    }
    owner.destroy();
    runtime::order_use(*reader, storage, false);
    launch(*copy_int(), 1, *reader, static_cast<int*>(value.data()),
           static_cast<int*>(seen.data()));
    reader->synchronize();
    EXPECT_EQ(seen.get<int>()[0], round);
  }
}

TEST_F(CudaForeignStreams, MemoryOfADestroyedForeignStreamIsFreed) {
  for (int round = 1; round <= 10; ++round) {
    ForeignStreamOwner owner;
    Storage storage;
    {
      const Stream foreign = Stream::foreign(gpu, owner.handle());
      storage = runtime::allocate_on(foreign.state(), 4 << 20);
      launch(*delayed_write(), 1, foreign.state(), static_cast<int*>(storage.data()), round,
             30 * ns_per_ms);
    }
    owner.destroy();
    storage = Storage{};
    const int mine = 42;
    const Storage next = runtime::allocate_on(*default_stream(), 4 << 20);
    backend().upload(&mine, next.data(), 4, *default_stream());
    backend().synchronize(0);
    int got = 0;
    backend().download(next.data(), &got, 4, *default_stream());
    EXPECT_EQ(got, 42);
  }
}

}  // namespace
}  // namespace spanwise::cuda
