// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC, which has no host headers. The functions are built into it, the constants are not.
#pragma once
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#include "spanwise_math_constants.h"
