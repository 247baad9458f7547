// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVRTC has the vector types that the samples' headers use.

#include "spanwise_nvcc.h"

#define SW_FN static __device__ __forceinline__
