// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies that a GPU makes beside its threads (CUDA C++ Programming Guide 13.0, "Pipeline Primitives
// Interface"). Here they are over at once, which is one of the times at which they may be; to wait
// for them therefore takes nothing.

// 4, 8 or 16 bytes, of which the last `zeros` become 0 and are not read.
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
