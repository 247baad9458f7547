// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For checked kernels, and modules whose warps run in step: the functions that the compiler calls
// for each memory access and atomic operation under -fsanitize=thread (GCC and Clang), and for each
// index outside of an array of known extent under -fsanitize=bounds. They pass the accesses to the
// library, so no run-time library of a sanitizer is needed.

// no_sanitize("thread") of Clang leaves atomic operations instrumented.
#ifdef __clang__
#define SW_UNCHECKED                                                                    \
  __attribute__((no_sanitize("thread", "alignment"), disable_sanitizer_instrumentation, \
                 visibility("hidden")))
#else
#define SW_UNCHECKED __attribute__((no_sanitize("thread", "alignment"), visibility("hidden")))
#endif

#define SW_CALLED SW_UNCHECKED __attribute__((weak))

// Replaces functions of the C library: the accesses of memcpy are checked.
#define SW_CHECKED_AS(name) __asm__(name)

#ifdef SW_KERNEL_CHECK
// used: the compiler would replace reads of a variable that no code writes by zeros.
#undef __shared__
#define __shared__ static __thread __attribute__((aligned(16), used))
SW_PER_WORKER int sw_checking;
#else
enum { sw_checking = 0 };
#endif

#ifdef SW_WARP_STEP
// Lanes in step: every lane of a warp has read what its statement reads before one of them stores,
// and all have stored before one reads again. So a lane waits for the others of its warp at each
// volatile store and, if it has stored since, at each read. Of other stores, volatile reads alone
// wait for those of the other lanes. With SW_WARP_STEP 2 all stores count as volatile.
enum sw_store_kind { sw_no_store, sw_plain_store, sw_volatile_store };
SW_PER_WORKER int sw_has_stored;  // the running lane, since it last waited
// The last address that a lane read or changed without a store since, and how many times.
static __thread const void* sw_polled;
static __thread int sw_polls;

SW_UNCHECKED __attribute__((noinline)) static void sw_step(const void* code, int stores) {
  if (sw_worker == nullptr) return;  // in an initialiser of the module
  const unsigned x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  sw_rt->step(sw_worker, code);
  threadIdx.x = x;
  threadIdx.y = y;
  threadIdx.z = z;
  sw_has_stored = stores;
}
// A lane that accesses one address again and again waits for other lanes, for a lock or a flag.
SW_UNCHECKED __attribute__((noinline)) static void sw_poll(const void* address) {
  sw_polls = sw_polled == address ? sw_polls + 1 : 0;
  sw_polled = address;
  if (sw_polls < 1024) return;
  sw_polls = 0;
  sw_step(nullptr, sw_has_stored);
}
SW_UNCHECKED static inline void sw_keep_step(const void* address, int kind, const void* code) {
  // The caller's local variables.
  const auto frame = (unsigned long)__builtin_frame_address(0);
  if ((unsigned long)address - frame < 4096) return;
  const bool steps = kind == sw_access_volatile_write ||
                     (SW_WARP_STEP == 2 && kind == sw_access_write) ||
                     (kind == sw_access_read && sw_has_stored == sw_volatile_store) ||
                     (kind == sw_access_volatile_read && sw_has_stored != sw_no_store);
  if (steps)
    sw_step(code, kind == sw_access_read || kind == sw_access_volatile_read ? sw_no_store
                                                                            : sw_volatile_store);
  else if (kind == sw_access_write)
    sw_has_stored |= sw_plain_store;
  else if (kind >= sw_access_atomic)
    sw_poll(address);
}
#else
SW_UNCHECKED static inline void sw_keep_step(const void*, int, const void*) {}
#endif

SW_UNCHECKED static inline void sw_record_access(const volatile void* address,
                                                 unsigned long long bytes, int kind,
                                                 const void* code) {
  const auto begin = (unsigned long)address;
  // The built-in variables.
  if (begin - (unsigned long)&threadIdx < sizeof threadIdx ||
      begin - (unsigned long)&blockIdx < sizeof blockIdx ||
      begin - (unsigned long)&blockDim < sizeof blockDim ||
      begin - (unsigned long)&gridDim < sizeof gridDim)
    return;
#ifdef SW_WARP_STEP
  if (begin == (unsigned long)&sw_has_stored) return;
#endif
  sw_keep_step((const void*)address, kind, code);
  if (sw_checking) sw_rt->access(sw_worker, (const void*)address, bytes, kind, code);
}
#define SW_RECORD(bytes, kind) sw_record_access(address, bytes, kind, __builtin_return_address(0))

#define SW_ACCESS_AS(bytes, prefix, reads, writes)                                        \
  SW_CALLED void __tsan_##prefix##read##bytes(void* address) { SW_RECORD(bytes, reads); } \
  SW_CALLED void __tsan_##prefix##write##bytes(void* address) { SW_RECORD(bytes, writes); }
#define SW_ACCESS(bytes)                                                            \
  SW_ACCESS_AS(bytes, , sw_access_read, sw_access_write)                            \
  SW_ACCESS_AS(bytes, unaligned_, sw_access_read, sw_access_write)                  \
  SW_ACCESS_AS(bytes, volatile_, sw_access_volatile_read, sw_access_volatile_write) \
  SW_ACCESS_AS(bytes, unaligned_volatile_, sw_access_volatile_read, sw_access_volatile_write)

#define SW_ATOMIC_FETCH(bits, T, name)                                                \
  SW_CALLED T __tsan_atomic##bits##_fetch_##name(volatile T* address, T value, int) { \
    SW_RECORD(bits / 8, sw_access_atomic);                                            \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST);                   \
  }
#define SW_ATOMIC_EXCHANGE_IF(bits, T, strength)                                          \
  SW_CALLED int __tsan_atomic##bits##_compare_exchange_##strength(                        \
      volatile T* address, T* expected, T value, int, int) {                              \
    SW_RECORD(bits / 8, sw_access_atomic);                                                \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, \
                                       __ATOMIC_SEQ_CST);                                 \
  }
// Clang calls this one.
#define SW_ATOMIC_EXCHANGE_VALUE(bits, T)                                                          \
  SW_CALLED T __tsan_atomic##bits##_compare_exchange_val(volatile T* address, T expected, T value, \
                                                         int, int) {                               \
    SW_RECORD(bits / 8, sw_access_atomic);                                                         \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,                \
                                __ATOMIC_SEQ_CST);                                                 \
    return expected;                                                                               \
  }
#define SW_ATOMICS(bits, T)                                                       \
  SW_CALLED T __tsan_atomic##bits##_load(const volatile T* address, int) {        \
    SW_RECORD(bits / 8, sw_access_volatile_read);                                 \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                            \
  }                                                                               \
  SW_CALLED void __tsan_atomic##bits##_store(volatile T* address, T value, int) { \
    SW_RECORD(bits / 8, sw_access_volatile_write);                                \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                           \
  }                                                                               \
  SW_CALLED T __tsan_atomic##bits##_exchange(volatile T* address, T value, int) { \
    SW_RECORD(bits / 8, sw_access_atomic);                                        \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                 \
  }                                                                               \
  SW_ATOMIC_FETCH(bits, T, add)                                                   \
  SW_ATOMIC_FETCH(bits, T, sub)                                                   \
  SW_ATOMIC_FETCH(bits, T, and)                                                   \
  SW_ATOMIC_FETCH(bits, T, or)                                                    \
  SW_ATOMIC_FETCH(bits, T, xor)                                                   \
  SW_ATOMIC_FETCH(bits, T, nand)                                                  \
  SW_ATOMIC_EXCHANGE_VALUE(bits, T)                                               \
  SW_ATOMIC_EXCHANGE_IF(bits, T, strong)                                          \
  SW_ATOMIC_EXCHANGE_IF(bits, T, weak)

// The arguments of __ubsan_handle_out_of_bounds and __ubsan_handle_type_mismatch_v1, as in
// compiler-rt's ubsan_handlers.h.
struct sw_checked_type {
  unsigned short kind, info;
  char name[1];
};
struct sw_bounds_data {
  const char* file;
  unsigned line, column;
  const sw_checked_type* array;
};
struct sw_alignment_data {
  const char* file;
  unsigned line, column;
  const sw_checked_type* type;
  unsigned char log_alignment, kind;
};
extern "C" {
SW_ACCESS(1)
SW_ACCESS(2)
SW_ACCESS(4)
SW_ACCESS(8)
SW_ACCESS(16)
SW_CALLED void __tsan_read_range(void* address, unsigned long bytes) {
  SW_RECORD(bytes, sw_access_read);
}
SW_CALLED void __tsan_write_range(void* address, unsigned long bytes) {
  SW_RECORD(bytes, sw_access_write);
}
SW_ATOMICS(8, unsigned char)
SW_ATOMICS(16, unsigned short)
SW_ATOMICS(32, unsigned)
SW_ATOMICS(64, unsigned long long)
SW_CALLED void __tsan_atomic_thread_fence(int) {}
SW_CALLED void __tsan_atomic_signal_fence(int) {}
SW_CALLED void __tsan_init() {}
SW_CALLED void __tsan_func_entry(void*) {}
SW_CALLED void __tsan_func_exit() {}
SW_CALLED void __tsan_vptr_read(void**) {}
SW_CALLED void __tsan_vptr_update(void**, void*) {}

// What sources call, and what clang from version 15 calls for copies of structs.
#define SW_COPY(name)                                                   \
  SW_CALLED void* name(void* to, const void* from, size_t bytes) {      \
    const void* code = __builtin_return_address(0);                     \
    if (bytes > 0) sw_record_access(from, bytes, sw_access_read, code); \
    if (bytes > 0) sw_record_access(to, bytes, sw_access_write, code);  \
    sw_rt->move(to, from, bytes);                                       \
    return to;                                                          \
  }
#define SW_SET(name)                                                                          \
  SW_CALLED void* name(void* to, int value, size_t bytes) {                                   \
    if (bytes > 0) sw_record_access(to, bytes, sw_access_write, __builtin_return_address(0)); \
    sw_rt->set(to, value, bytes);                                                             \
    return to;                                                                                \
  }
SW_COPY(sw_memcpy)
SW_COPY(__tsan_memcpy)
SW_COPY(__tsan_memmove)
SW_SET(sw_memset)
SW_SET(__tsan_memset)
#undef SW_COPY
#undef SW_SET

int snprintf(char*, size_t, const char*, ...);
SW_CALLED void __ubsan_handle_out_of_bounds(const sw_bounds_data* data, unsigned long index) {
  char text[160];
  snprintf(text, sizeof text, "index %ld is outside of an array of type %s",
           static_cast<long>(index), data->array->name);
  sw_fail(text, data->file, static_cast<int>(data->line));
}
// -fsanitize=alignment calls it for nothing else. A GPU ends such a kernel: "misaligned address".
SW_CALLED void __ubsan_handle_type_mismatch_v1(const sw_alignment_data* data,
                                               unsigned long address) {
  char text[200];
  snprintf(text, sizeof text, "address 0x%lx is not a multiple of %d, as those of type %s are",
           address, 1 << data->log_alignment, data->type->name);
  const bool is_in_shim =
      __builtin_strstr(data->file, "/spanwise_") != nullptr;  // __ldg() and others
  sw_fail(text, is_in_shim ? nullptr : data->file, is_in_shim ? 0 : static_cast<int>(data->line));
}
}
#undef SW_CALLED
#undef SW_ATOMICS
#undef SW_ATOMIC_EXCHANGE_VALUE
#undef SW_ATOMIC_EXCHANGE_IF
#undef SW_ATOMIC_FETCH
#undef SW_ACCESS
#undef SW_ACCESS_AS
#undef SW_RECORD

SW_UNCHECKED static inline void sw_note_fence() {
  if (sw_checking) sw_rt->fence(sw_worker);
}
// Kernels are rewritten to `return SW_RETURN;`.
SW_UNCHECKED static inline void sw_note_return() {
  if (sw_checking) sw_rt->returns(sw_worker);
}
#define SW_RETURN sw_note_return()
