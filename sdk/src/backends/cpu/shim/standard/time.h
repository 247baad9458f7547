// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the C library's header with what device code uses: clock(), which spanwise_cpu.h
// declares, and types.

typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000l
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
