// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the header of the samples of CUDA 4 and older.

#include "helper_cuda.h"

#define CUDA_SAFE_CALL(call) ((void)(call))
#define CUDA_SAFE_CALL_NO_SYNC(call) ((void)(call))
#define CUT_SAFE_CALL(call) ((void)(call))
#define CUT_CHECK_ERROR(message) ((void)(message))
#define cutilSafeCall(call) ((void)(call))
#define cutilSafeCallNoSync(call) ((void)(call))
#define cutilCheckMsg(message) ((void)(message))
#define CUT_BANK_CHECKER(array, index) array[index]
