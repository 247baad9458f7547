// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// CUDAMat's matrix as its C functions see it (cudamat/cudamat.cuh): packed, column-major, float32.
namespace spanwise::python {

struct CudamatStruct {
  float* data_host;
  float* data_device;
  int on_device;
  int on_host;
  int size[2];    ///< rows and columns as stored, whatever is_trans says
  int is_trans;   ///< looked at by dot and what is built on it, ignored by the rest
  int owns_data;  ///< freed with the matrix
};
static_assert(sizeof(CudamatStruct) == 2 * sizeof(float*) + 6 * sizeof(int));
static_assert(offsetof(CudamatStruct, data_device) == sizeof(float*));
static_assert(offsetof(CudamatStruct, on_device) == 2 * sizeof(float*));
static_assert(offsetof(CudamatStruct, owns_data) == 2 * sizeof(float*) + 5 * sizeof(int));

}  // namespace spanwise::python
