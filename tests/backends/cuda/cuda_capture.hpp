// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_device.hpp"

namespace spanwise::cuda {

/// Two streams, and kernels that are loaded before any capture.
class CaptureTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    copy_int();  // compiles the kernel at its first call
    delayed_write();
    stream_ = backend().create_stream(0);
    side_ = backend().create_stream(0);
  }
  Ref<runtime::StreamState> stream_, side_;
};

/// Captures a stream by calls of the driver, as another library would; run() launches the graph.
class Capture {
 public:
  explicit Capture(runtime::StreamState& stream)
      : stream_(reinterpret_cast<CUstream>(stream.handle())) {
    driver().device_primary_ctx_retain(&context_, 0);
    driver().ctx_push_current(context_);
    auto* begin =
        driver_function<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2");
    EXPECT_EQ(begin(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
  }
  ~Capture() {
    if (graph_ == nullptr) end();
    if (exec_ != nullptr) driver_function<CUresult(CUgraphExec)>("cuGraphExecDestroy")(exec_);
    if (graph_ != nullptr) driver_function<CUresult(CUgraph)>("cuGraphDestroy")(graph_);
  }
  CUresult end() {
    driver().ctx_push_current(context_);
    const CUresult code =
        driver_function<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture")(stream_, &graph_);
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
    return code;
  }
  std::size_t node_count() const {
    std::size_t count = 0;
    driver_function<CUresult(CUgraph, CUgraphNode*, std::size_t*)>("cuGraphGetNodes")(
        graph_, nullptr, &count);
    return count;
  }
  void run() {
    driver().ctx_push_current(context_);
    auto* instantiate = driver_function<CUresult(CUgraphExec*, CUgraph, unsigned long long)>(
        "cuGraphInstantiateWithFlags");
    if (exec_ == nullptr) {
      EXPECT_EQ(instantiate(&exec_, graph_, 0), CUDA_SUCCESS);
    }
    EXPECT_EQ(driver_function<CUresult(CUgraphExec, CUstream)>("cuGraphLaunch")(exec_, stream_),
              CUDA_SUCCESS);
    EXPECT_EQ(driver().stream_synchronize(stream_), CUDA_SUCCESS);
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
  }

 private:
  CUstream stream_;
  CUcontext context_ = nullptr;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

}  // namespace spanwise::cuda
