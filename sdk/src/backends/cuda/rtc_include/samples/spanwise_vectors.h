// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVRTC has the vector types that the samples' headers use.

#define SW_FN static __device__ __forceinline__
using uint = unsigned int;
