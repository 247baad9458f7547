// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included before a file, as nvcc does: standard headers, and the names of glibc that they declare.

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define RAND_MAX 2147483647
#define __extension__
#define register
#define __linux__ 1
#define __unix__ 1
#define _POSIX_VERSION 200809L

using uint = unsigned int;
using ushort = unsigned short;
using ulong = unsigned long;

// NVIDIA's package of the runtime has this header but not what it includes.
#if __has_include(<cuda_device_runtime_api.h>) && __has_include(<crt/host_defines.h>)
#include <cuda_device_runtime_api.h>  // cudaGridDependencySynchronize()
#endif

namespace std {}  // namespace std
