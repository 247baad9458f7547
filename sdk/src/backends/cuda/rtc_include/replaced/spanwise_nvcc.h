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

#define __PDP_ENDIAN 3412
#define LITTLE_ENDIAN __LITTLE_ENDIAN
#define BIG_ENDIAN __BIG_ENDIAN
#define PDP_ENDIAN __PDP_ENDIAN
#define BYTE_ORDER __BYTE_ORDER

// Shuffles and votes without a mask, of the lanes that execute them together. Overloads of the
// user's are preferred to templates.
#define SW_OLD_SHUFFLE(name, Lane)                                            \
  template <class SwT>                                                        \
  __device__ __forceinline__ SwT name(SwT value, Lane lane, int width = 32) { \
    return name##_sync(__activemask(), value, lane, width);                   \
  }
SW_OLD_SHUFFLE(__shfl, int)
SW_OLD_SHUFFLE(__shfl_up, unsigned)
SW_OLD_SHUFFLE(__shfl_down, unsigned)
SW_OLD_SHUFFLE(__shfl_xor, int)
#undef SW_OLD_SHUFFLE
#define sw__any(predicate) __any_sync(__activemask(), predicate)
#define sw__all(predicate) __all_sync(__activemask(), predicate)
#define sw__ballot(predicate) __ballot_sync(__activemask(), predicate)

using uint = unsigned int;
using ushort = unsigned short;
using ulong = unsigned long;

// NVIDIA's package of the runtime has this header but not what it includes.
#if __has_include(<cuda_device_runtime_api.h>) && __has_include(<crt/host_defines.h>)
#include <cuda_device_runtime_api.h>  // cudaGridDependencySynchronize()
#endif

namespace std {}  // namespace std
