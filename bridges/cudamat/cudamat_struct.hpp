// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// CUDAMat's matrix as declared by its C functions (cudamat/cudamat.cuh): packed, column-major,
/// float32.
namespace spanwise::python {

struct CudamatStruct {
  float* data_host;
  float* data_device;
  int on_device;
  int on_host;
  int size[2];    ///< rows and columns as stored, regardless of is_trans
  int is_trans;   ///< used by dot and functions based on it, ignored by the rest
  int owns_data;  ///< whether the memory is freed with the matrix
};
static_assert(sizeof(CudamatStruct) == 2 * sizeof(float*) + 6 * sizeof(int));
static_assert(offsetof(CudamatStruct, data_device) == sizeof(float*));
static_assert(offsetof(CudamatStruct, on_device) == 2 * sizeof(float*));
static_assert(offsetof(CudamatStruct, owns_data) == 2 * sizeof(float*) + 5 * sizeof(int));

}  // namespace spanwise::python
