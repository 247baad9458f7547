// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC, which has no host headers. The types are those of libcu++ (cuda/std/cstdint) under
// NVRTC, so that a kernel may include both.
#pragma once

typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

#define SW_WIDTH(n)                      \
  typedef int##n##_t int_least##n##_t;   \
  typedef uint##n##_t uint_least##n##_t; \
  typedef int##n##_t int_fast##n##_t;    \
  typedef uint##n##_t uint_fast##n##_t;
SW_WIDTH(8)
SW_WIDTH(16)
SW_WIDTH(32)
SW_WIDTH(64)
#undef SW_WIDTH

typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;

#ifndef INT8_MIN  // libcu++ may have defined them
#define INT8_MIN (-128)
#define INT8_MAX 127
#define INT16_MIN (-32767 - 1)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX UINT64_MAX
#endif
