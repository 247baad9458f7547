// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Half precision (CUDA Math API 13.0, "Half Precision Intrinsics"): storage in 16 bits, arithmetic
// in float, rounded once per result, as by the GPU's instructions.

#include "spanwise_half.h"

SW_SMALL_STRUCT(__half, sw_half_from_float, sw_half_to_float)
template <>
struct sw_wider<__half> : sw_wider_small<__half> {};
typedef __half half;

SW_SMALL_FLOAT(__half, __half2, half)
typedef __half2 half2;
SW_SMALL_CONVERSIONS(__half, __half2, half)
