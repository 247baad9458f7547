// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// bfloat16 (CUDA Math API 13.0, "Bfloat16 Precision Intrinsics"): the upper half of a float, with
// arithmetic in float, rounded once per result.

#include "spanwise_half.h"

SW_FN unsigned short sw_bfloat_from_float(float value) {
  const unsigned word = sw_bits<unsigned>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(word >> 16 | 0x40u);
  return (unsigned short)(word + 0x7fffu + (word >> 16 & 1u) >> 16);
}

SW_FN float sw_bfloat_to_float(unsigned short bits) { return sw_bits<float>((unsigned)bits << 16); }

SW_SMALL_STRUCT(__nv_bfloat16, sw_bfloat_from_float, sw_bfloat_to_float)
template <>
struct sw_wider<__nv_bfloat16> : sw_wider_small<__nv_bfloat16> {};
typedef __nv_bfloat16 nv_bfloat16;

SW_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat162 nv_bfloat162;
SW_SMALL_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
