// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers of the host library are left out; kernels use the types of those that they include.

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
