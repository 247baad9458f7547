// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/check.hpp"

namespace spanwise::cuda {
namespace {

const char* advice(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "a kernel caused this, possibly an earlier one; the device's context is lost and the "
             "process must be restarted. Run it under compute-sanitizer, or with "
             "SPANWISE_LAUNCH_BLOCKING=1, to find the kernel";
    case CUDA_ERROR_ASSERT:
      return "an assert() in a kernel failed, its text is on the standard output; the device's "
             "context is lost and the process must be restarted";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "a kernel ran longer than the display's watchdog allows; the device's context is lost "
             "and the process must be restarted";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "the GPU's memory failed; the process must be restarted and the GPU checked";
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "the device was reset (cudaDeviceReset, cuDevicePrimaryCtxReset); everything on "
             "it is lost and the process must be restarted";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "the binary was made for another architecture; compile it for this device, or to PTX";
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "the binary is damaged, or was made by a toolkit newer than the driver: update the "
             "driver, or put an older NVRTC first (config cuda_library_path)";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "the kernel needs more registers or shared memory than a block can have; use a "
             "smaller block";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
      return "a stream is being captured, and this call is not allowed then; move it before the "
             "capture, or make the captured stream current";
    case CUDA_ERROR_DEINITIALIZED:
      return "the CUDA driver is shutting down with the process";
    default:
      return nullptr;
  }
}

}  // namespace

void fail_driver(const DriverApi& api, CUresult code, const std::string& action) {
  const char *name = nullptr, *description = nullptr;
  api.get_error_name(code, &name);
  api.get_error_string(code, &description);
  if (name == nullptr) name = "unknown error";
  std::string message =
      text("cuda: ", action, " failed: ", description != nullptr ? description : name, " (", name,
           ", ", static_cast<int>(code), ')');
  if (const char* more = advice(code)) message += text("; ", more);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    throw OutOfMemoryError(message, static_cast<int>(code), name);
  }
  throw DeviceError(message, static_cast<int>(code), name);
}

}  // namespace spanwise::cuda
