// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asynchronous copies (CUDA C++ Programming Guide 13.0, "Pipeline Primitives Interface"). Here they
// are synchronous, which CUDA permits, so waiting for them does nothing.

// Copies 4, 8 or 16 bytes; the last `zeros` of them are set to 0 and not read.
SW_FN void __pipeline_memcpy_async(void* target, const void* source, size_t bytes,
                                   size_t zeros = 0) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    sw_fail("__pipeline_memcpy_async() copies 4, 8 or 16 bytes, and no more of them are zeros",
            nullptr, 0);
  if (((unsigned long long)target | (unsigned long long)source) % bytes != 0)
    sw_fail("__pipeline_memcpy_async() takes addresses that are multiples of the bytes it copies",
            nullptr, 0);
  memcpy(target, source, bytes - zeros);
  memset((char*)target + bytes - zeros, 0, zeros);
}
SW_FN void __pipeline_commit() {}
SW_FN void __pipeline_wait_prior(size_t) {}
// __pipeline_arrive_on() of cuda_awbarrier_primitives.h counts an arrival for finished copies.
#include "cuda_awbarrier_primitives.h"
SW_FN void __pipeline_arrive_on(__mbarrier_t*) {}
