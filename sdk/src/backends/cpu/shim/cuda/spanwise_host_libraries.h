// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the headers of CUDA's host libraries (cuBLAS, cuFFT, cuRAND, cuSPARSE, Thrust and
// others): the types that device code uses, and handles.

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
typedef int cufftHandle, cufftResult;
typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cudnnContext* cudnnHandle_t;
typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct curandGenerator_st* curandGenerator_t;
typedef struct ncclComm* ncclComm_t;
typedef int cublasStatus_t, cudnnStatus_t, cusparseStatus_t, curandStatus_t, ncclResult_t;
namespace thrust {}
