// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for the CPU shim's header of this name where NVRTC compiles the replaced headers of
// NVIDIA's samples: NVRTC has the vector types built in, so only the macro for functions is
// defined.

#include "spanwise_nvcc.h"

#define SW_FN static __device__ __forceinline__
