// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In the place of cuBLAS's headers, which are for host code: kernels use the types of the headers
// that those include.

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
