// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backends/cuda/cublas.hpp"
#include "spanwise/runtime/linear_algebra.hpp"

namespace spanwise::cuda {

class CudaStream;

/// library_gemm() on a GPU, with cuBLAS: float16, bfloat16, float32 (in TF32 only if config
/// "allow_tf32" is set), float64 and complex numbers. Returns false, with nothing queued, if cuBLAS
/// is missing or does not support the call. Throws DeviceError.
bool gemm(const GemmCall& call, CudaStream& stream);

/// Arguments of a cuBLAS call. cuBLAS is column-major: it computes the transposed result as the
/// product of the transposed factors in reverse order.
struct CublasCall {
  int dtype = 0, compute = 0;
  int first_operation = 0, second_operation = 0;  ///< of the right factor, of the left factor
  std::int64_t first_leading = 1, second_leading = 1;
};
/// Nothing if cuBLAS does not support the dtype.
std::optional<CublasCall> cublas_call(const GemmCall& call, bool allow_tf32);

}  // namespace spanwise::cuda
