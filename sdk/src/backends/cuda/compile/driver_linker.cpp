// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "backends/cuda/compile/image_contents.hpp"
#include "backends/cuda/compile/linker.hpp"
#include "backends/cuda/compile/nvjitlink.hpp"
#include "backends/cuda/context.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

CUjitInputType driver_input_type(const LinkInput& input) {
  switch (image_kind(input.image)) {
    case ImageKind::cubin:
      return CU_JIT_INPUT_CUBIN;
    case ImageKind::ptx:
      return CU_JIT_INPUT_PTX;
    case ImageKind::fat_binary:
      return CU_JIT_INPUT_FATBINARY;
    case ImageKind::object:
      return CU_JIT_INPUT_OBJECT;
    case ImageKind::archive:
      return CU_JIT_INPUT_LIBRARY;
    default:
      fail<DeviceError>("cuda: the driver does not link ", input.name,
                        ", which is LTO-IR or not device code; ", nvjitlink::remedy());
  }
}

class DriverLink {
 public:
  explicit DriverLink(const DeviceContext& context) : context_(context), api_(context.api) {
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{log_.data(), std::bit_cast<void*>(log_.size())};
    cuda::check(api_,
                api_.link_create(static_cast<unsigned>(options.size()), options.data(),
                                 values.data(), &state_),
                "starting the linker of ", context.device);
  }
  ~DriverLink() { api_.link_destroy(state_); }
  DriverLink(const DriverLink&) = delete;
  DriverLink& operator=(const DriverLink&) = delete;

  void add(LinkInput input) {
    const CUjitInputType type = driver_input_type(input);
    // The size of PTX includes its terminating NUL.
    const std::size_t bytes = input.image.size() + (type == CU_JIT_INPUT_PTX ? 1 : 0);
    check(api_.link_add_data(state_, type, input.image.data(), bytes, input.name.c_str(), 0,
                             nullptr, nullptr),
          input.name);
  }
  std::string complete() {
    void* cubin = nullptr;
    std::size_t bytes = 0;
    check(api_.link_complete(state_, &cubin, &bytes), "all inputs");
    return {static_cast<const char*>(cubin), bytes};
  }

 private:
  void check(CUresult code, const std::string& input) const {
    if (code == CUDA_SUCCESS) return;
    const std::string log(log_.data());
    if (log.empty()) cuda::check(api_, code, "linking ", input, " on ", context_.device);
    throw CompileError(text("linking failed on ", context_.device, " (the driver's linker, at ",
                            input, "):\n", log, runtime::link_remedy, '\n'),
                       log, "");
  }

  const DeviceContext& context_;
  const DriverApi& api_;
  std::array<char, 8192> log_{};
  CUlinkState state_ = nullptr;
};

}  // namespace

std::string link_with_driver(const LinkJob& job, int ordinal) {
  DeviceContext& context = DeviceContext::of(ordinal);
  const ContextGuard guard(context);
  const RelaxedCaptureMode relaxed(context.api);
  DriverLink linking(context);
  for (const LinkInput& input : job.inputs) linking.add(input);
  return linking.complete();
}

}  // namespace spanwise::cuda
