// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For checked kernels: the functions that the compiler calls for each memory access under
// -fsanitize=kernel-address with a call threshold of 0 (GCC and Clang, "Kernel Address Sanitizer"),
// and for each index outside of an array of known extent under -fsanitize=bounds. They compare the
// address with the red zones, so no run-time library of a sanitizer and no shadow memory is needed.

#define SW_UNCHECKED __attribute__((no_sanitize("kernel-address"), visibility("hidden")))

// Functions that the compiler calls by name; weak, because each linked source defines them.
#define SW_CALLED SW_UNCHECKED __attribute__((weak))

SW_PER_WORKER const sw_check* sw_checking;

SW_UNCHECKED static inline void sw_look_at(const void* address, unsigned long long bytes,
                                           int writes, const void* code) {
  const sw_check* check = sw_checking;
  if (check == nullptr) return;
  const char* at = static_cast<const char*>(address);
  for (int i = 0; i < check->count; ++i) {
    const sw_fence& fence = check->red_zones[i];
    if (at + bytes <= fence.begin || at >= fence.end) continue;
    if (at >= fence.data && at + bytes <= fence.data_end) continue;
    const sw_extent block{blockIdx.x, blockIdx.y, blockIdx.z};
    const sw_extent thread{threadIdx.x, threadIdx.y, threadIdx.z};
    sw_rt->out_of_bounds(sw_worker, &fence, at, bytes, writes, code, &block, &thread);
  }
}

#define SW_ACCESS(bytes)                                         \
  SW_CALLED void __asan_load##bytes##_noabort(const void* at) {  \
    sw_look_at(at, bytes, 0, __builtin_return_address(0));       \
  }                                                              \
  SW_CALLED void __asan_store##bytes##_noabort(const void* at) { \
    sw_look_at(at, bytes, 1, __builtin_return_address(0));       \
  }
struct sw_bounds_type {
  unsigned short kind, info;
  char name[1];
};
struct sw_bounds_place {
  const char* file;
  unsigned line, column;
  const sw_bounds_type* array;
};
extern "C" {
SW_ACCESS(1)
SW_ACCESS(2)
SW_ACCESS(4)
SW_ACCESS(8)
SW_ACCESS(16)
SW_CALLED void __asan_loadN_noabort(const void* at, unsigned long bytes) {
  sw_look_at(at, bytes, 0, __builtin_return_address(0));
}
SW_CALLED void __asan_storeN_noabort(const void* at, unsigned long bytes) {
  sw_look_at(at, bytes, 1, __builtin_return_address(0));
}
SW_CALLED void __asan_handle_no_return() {}

int snprintf(char*, size_t, const char*, ...);
SW_CALLED void __ubsan_handle_out_of_bounds(const sw_bounds_place* place, unsigned long index) {
  static __thread char text[160];
  snprintf(text, sizeof text, "index %ld is outside of an array of type %s",
           static_cast<long>(index), place->array->name);
  sw_fail(text, place->file, static_cast<int>(place->line));
}
}
#undef SW_ACCESS
