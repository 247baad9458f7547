// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Macros that conditions of the user's source may test: they are defined both where the source is
// preprocessed and where it is compiled.

#define SW_CPU 1  // for users: #ifndef SW_CPU guards code that only a GPU can run
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1  // as with NVRTC, no host code is compiled
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDA_VERSION 13000
#define CUDART_VERSION 13000
// Code for devices is compiled, as on a GPU: a kernel whose body is under #ifdef __CUDA_ARCH__ must
// not be silently empty. 8.0 has the tensor cores, asynchronous copies and reductions of a warp
// that this shim provides; later architectures have instructions that it lacks.
#define __CUDA_ARCH__ 800
