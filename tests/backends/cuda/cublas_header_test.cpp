// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/cuda/cublas.hpp"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>

#include "prototypes.hpp"

namespace spanwise::cuda {

template <>
struct IsSameAbi<cublas::Handle, cublasHandle_t> : std::true_type {};
template <>
struct IsSameAbi<cublas::Handle*, cublasHandle_t*> : std::true_type {};

namespace cublas {
namespace {

#define SW_COMPARE(name, function, ...)                                              \
  static_assert(HasSameSignature<decltype(Api::name), decltype(&::function)>::value, \
                #function " is declared differently in cublas_v2.h");
SW_CUBLAS_FUNCTIONS(SW_COMPARE)
#undef SW_COMPARE

static_assert(success == CUBLAS_STATUS_SUCCESS && not_supported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(no_transpose == CUBLAS_OP_N && transpose == CUBLAS_OP_T &&
              conjugate_transpose == CUBLAS_OP_C);
static_assert(real_16 == CUDA_R_16F && bfloat_16 == CUDA_R_16BF && real_32 == CUDA_R_32F &&
              real_64 == CUDA_R_64F && complex_32 == CUDA_C_32F && complex_64 == CUDA_C_64F);
static_assert(compute_32 == CUBLAS_COMPUTE_32F && compute_64 == CUBLAS_COMPUTE_64F &&
              compute_tf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(default_algorithm == CUBLAS_GEMM_DEFAULT);
static_assert(no_reduced_precision == CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);

TEST(CublasPrototypes, MatchTheHeader) { SUCCEED() << "compared at compile time"; }

}  // namespace
}  // namespace cublas
}  // namespace spanwise::cuda

#else
TEST(CublasPrototypes, MatchTheHeader) { GTEST_SKIP() << "cublas_v2.h is not installed"; }
#endif
