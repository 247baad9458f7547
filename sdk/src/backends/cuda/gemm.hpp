// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/cublas.hpp"
#include "spanwise/gemm.hpp"

namespace spanwise::cuda {

class DeviceContext;
class CudaStream;

/// library_gemm() on a GPU, by cuBLAS: float16, bfloat16, float32 (in TF32 only where config
/// "allow_tf32" says so), float64 and complex numbers.
bool gemm(DeviceContext& context, const GemmCall& call, CudaStream& stream);

/// A call as cuBLAS takes it, whose matrices lie column after column: the transposed result is the
/// product of the transposed factors, the other way round.
struct CublasCall {
  int dtype = 0, compute = 0;
  int first_operation = 0, second_operation = 0;  ///< right, left
  std::int64_t first_leading = 1, second_leading = 1;
};
/// False where cuBLAS does not take the dtype.
bool as_cublas_call(const GemmCall& call, bool allow_tf32, CublasCall& out);

}  // namespace spanwise::cuda
