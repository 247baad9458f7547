// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "backends/cuda/driver.hpp"
#include "spanwise/runtime/linear_algebra.hpp"

/// cuBLAS, loaded at run time. cublas_v2.h is not in the wheel with the CUDA headers, so the few
/// prototypes that are needed are declared here (cuBLAS documentation, "Using the cuBLAS API"); a
/// test compares them with the real header if it is installed.
namespace spanwise::cuda::cublas {

using Status = int;
inline constexpr Status success = 0, not_supported = 15;
struct HandleState;
using Handle = HandleState*;

/// cublasOperation_t.
inline constexpr int no_transpose = 0, transpose = 1, conjugate_transpose = 2;
/// cudaDataType.
inline constexpr int real_32 = 0, real_64 = 1, real_16 = 2, complex_32 = 4, complex_64 = 5,
                     bfloat_16 = 14;
/// cublasComputeType_t.
inline constexpr int compute_32 = 68, compute_64 = 70, compute_tf32 = 77;
inline constexpr int default_algorithm = -1;
/// cublasMath_t: CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION. Partial sums of 16-bit products
/// are added in float32.
inline constexpr int no_reduced_precision = 16;

/// X(member of Api, cuBLAS's function, its result and parameter types)
#define SW_CUBLAS_FUNCTIONS(X)                                                                   \
  X(create, cublasCreate_v2, Status(Handle*))                                                    \
  X(set_stream, cublasSetStream_v2, Status(Handle, CUstream))                                    \
  X(set_workspace, cublasSetWorkspace_v2, Status(Handle, void*, std::size_t))                    \
  X(set_math_mode, cublasSetMathMode, Status(Handle, int))                                       \
  X(get_status_name, cublasGetStatusName, const char*(Status))                                   \
  X(gemm, cublasGemmStridedBatchedEx_64,                                                         \
    Status(Handle, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, \
           int, std::int64_t, long long, const void*, int, std::int64_t, long long, const void*, \
           void*, int, std::int64_t, long long, std::int64_t, int, int))

struct Api {
#define SW_DECLARE(name, function, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  SW_CUBLAS_FUNCTIONS(SW_DECLARE)
#undef SW_DECLARE
};

/// Loaded at the first call; null if there is none that the driver supports. A failed search is
/// repeated after a configuration change.
const Api* library();

/// The file that library() would load, found without loading anything; empty if there is none.
std::filesystem::path library_path();

}  // namespace spanwise::cuda::cublas

namespace spanwise::cuda {

class CudaStream;
class DeviceContext;

/// The size of the workspace that products need (cuBLAS documentation, cublasSetWorkspace: 32 MiB
/// from compute capability 9.0 on, else 4 MiB).
std::size_t workspace_bytes(const DeviceContext& context) noexcept;

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
