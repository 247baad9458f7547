// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the header of NVIDIA's CUDA samples, whose functions are for host code. Kernels use the
// macros below in code that they share with the host.

#include "helper_string.h"
#include "spanwise_host_api.h"

#define checkCudaErrors(call) ((void)(call))
#define getLastCudaError(message) ((void)(message))
#define printLastCudaError(message) ((void)(message))
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
