// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the C library's header: spanwise_cpu.h has already declared its functions.
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT __FLT_MAX__
#define FP_ILOGB0 (-__INT_MAX__ - 1)
#define FP_ILOGBNAN (-__INT_MAX__ - 1)
#include "spanwise_math_constants.h"
