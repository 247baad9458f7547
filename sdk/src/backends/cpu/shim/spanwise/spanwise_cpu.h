// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a host C++17 compiler accept CUDA C++. It precedes the user's source and its -D macros,
// includes no system header (that would take longer to compile than this whole file), and declares
// CUDA's predefined names in the global namespace.

#include "spanwise_abi.h"

#ifdef __x86_64__
// On x86, integer division by zero, and of the lowest value by -1, raises SIGFPE. On a GPU it does
// not: division by zero gives a quotient and a remainder with all bits set (for 64-bit types only
// the lower 32 bits if the dividend has no others, as measured on an H200), and division by -1
// wraps around. Compilers emit a division as one instruction, div or idiv, whose names are macros
// of the assembler here (GNU as, "Macro") that compare the divisor first. A macro is deleted before
// the instruction of its name and defined again after it: otherwise it would expand itself. (A
// pseudo prefix prevents that only before GNU as 2.44.) The rare cases are in a separate
// subsection, so that the common path takes no jump.

// `low` receives the quotient, `high` the remainder.
// clang-format off
#define SW_GUARDED(name, size, low, high, zero, unless_minus_one, minus_one) \
  __asm__(".macro sw_define_" name "\n"            \
          ".macro " name " divisor:vararg\n"       \
          "  cmp" size " $0, \\divisor\n"          \
          "  je .Lsw_zero\\@\n"                    \
          unless_minus_one                         \
          "  .purgem " name "\n"                   \
          "  " name " \\divisor\n"                \
          "  sw_define_" name "\n"                 \
          ".Lsw_divided\\@:\n"                     \
          ".subsection 1\n"                        \
          ".Lsw_zero\\@:\n"                        \
          zero                                     \
          "  jmp .Lsw_divided\\@\n"                \
          minus_one                                \
          ".subsection 0\n"                        \
          ".endm\n"                                \
          ".endm\n"                                \
          "sw_define_" name "\n")
#define SW_GUARDED_DIVISION(size, low, high, zero)       \
  SW_GUARDED("div" size, size, low, high, zero, "", ""); \
  SW_GUARDED("idiv" size, size, low, high, zero,         \
             "  cmp" size " $-1, \\divisor\n"      \
             "  je .Lsw_minus_one\\@\n",           \
             ".Lsw_minus_one\\@:\n"                \
             "  neg" size " " low "\n"             \
             "  mov" size " $0, " high "\n"        \
             "  jmp .Lsw_divided\\@\n")
// Sets all bits of both.
#define SW_ALL_BITS(size, low, high) "  mov" size " $-1, " low "\n  mov" size " $-1, " high "\n"
// Sets bits 32 to 63 only if the dividend has one of them set: neg sets the carry, which sbb copies
// to all bits.
#define SW_BITS_OF_DIVIDEND "  shrq $32, %rax\n  negq %rax\n  sbbq %rax, %rax\n" \
                            "  movl $-1, %edx\n  orq %rdx, %rax\n  movq %rax, %rdx\n"
// clang-format on

SW_GUARDED_DIVISION("b", "%al", "%ah", SW_ALL_BITS("b", "%al", "%ah"));
SW_GUARDED_DIVISION("w", "%ax", "%dx", SW_ALL_BITS("w", "%ax", "%dx"));
SW_GUARDED_DIVISION("l", "%eax", "%edx", SW_ALL_BITS("l", "%eax", "%edx"));
SW_GUARDED_DIVISION("q", "%rax", "%rdx", SW_BITS_OF_DIVIDEND);

#undef SW_BITS_OF_DIVIDEND
#undef SW_ALL_BITS
#undef SW_GUARDED_DIVISION
#undef SW_GUARDED
#endif

#include "spanwise_predefined.h"

#define __host__
#define __global__ __attribute__((visibility("hidden")))
// Visible, so that variables are found by name in the loaded module.
#define __device__ __attribute__((visibility("default")))
#define __constant__ __attribute__((visibility("default")))
#define __managed__
#define __grid_constant__
// Empty except where the generated text after a kernel reads its bounds (spanwise_launch.h).
#define __launch_bounds__(...) SW_LAUNCH_BOUNDS(__VA_ARGS__)
#define __cluster_dims__(...) SW_CLUSTER_DIMS(__VA_ARGS__)
#define SW_LAUNCH_BOUNDS(...)
#define SW_CLUSTER_DIMS(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __CUDA_ALIGN__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
// A worker thread runs one block at a time, so the block shares its thread-local variables.
#define __shared__ static __thread __attribute__((aligned(16)))
#if defined(__GNUC__) && !defined(__clang__)
#define __builtin_assume(...) ((void)0)
#endif
#define asm \
  _Pragma("GCC error \"inline PTX does not run on the CPU; guard it with #ifndef SW_CPU\"") asm

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#ifndef NULL
#define NULL __null
#endif

#define SW_FN static inline __attribute__((always_inline))

// std::bit_cast.
template <class To, class From>
SW_FN constexpr To sw_bits(From value) {
  return __builtin_bit_cast(To, value);
}

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
#if defined(SW_WITH_VECTORS) || defined(SW_WITH_ALL)
#include "spanwise_vectors.h"
#endif
// The address of a sw_texture.
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

// POD, hidden and never passed by address, so that the compiler can assume that no store of the
// kernel changes them, and can vectorize.
struct sw_dim {
  unsigned x, y, z;
  operator dim3() const { return dim3(x, y, z); }
  operator uint3() const { return {x, y, z}; }
};
// Linked sources share these: the first, SW_UNIT 0, defines them.
#ifndef SW_UNIT
#define SW_PER_WORKER static __thread
#elif SW_UNIT == 0
#define SW_PER_WORKER __attribute__((visibility("hidden"))) __thread
#else
#define SW_PER_WORKER extern __attribute__((visibility("hidden"))) __thread
#endif
SW_PER_WORKER uint3 threadIdx, blockIdx;
SW_PER_WORKER sw_dim blockDim, gridDim;
SW_PER_WORKER void* sw_worker;
SW_PER_WORKER char* sw_dynamic_shared;
static const sw_runtime* sw_rt;
enum { warpSize = 32 };
SW_FN unsigned sw_linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__attribute__((noreturn, noinline, cold)) static void sw_fail(const char* problem, const char* file,
                                                              int line) {
  const sw_extent block{blockIdx.x, blockIdx.y, blockIdx.z};
  const sw_extent thread{threadIdx.x, threadIdx.y, threadIdx.z};
  sw_rt->fail(sw_worker, problem, file, line, &block, &thread);
  __builtin_unreachable();
}

#if defined(SW_KERNEL_CHECK) || defined(SW_WARP_STEP)
#include "spanwise_check.h"
#else
#define SW_UNCHECKED __attribute__((visibility("hidden")))
#define SW_CHECKED_AS(name)
#define SW_RETURN  // kernels are rewritten to `return SW_RETURN;`
#endif
#ifdef SW_WARP_STEP
#define SW_LANE_STATE int sw_stored = sw_has_stored
#define SW_SET_LANE_STATE sw_has_stored = sw_stored
#else
#define SW_LANE_STATE int sw_stored = 0
#define SW_SET_LANE_STATE (void)sw_stored
#endif
// Functions that the compiler or other code calls by name; weak, because each linked source defines
// them.
#define SW_CALLED SW_UNCHECKED __attribute__((weak))

#ifdef SW_SPLIT_STACK
// For sources with recursion: the functions that code compiled with -fsplit-stack calls if too
// little stack is left. With split stacks they would allocate another segment; here the launch
// fails. Weak, because each linked source defines them. Without checks, because the functions for
// checks compare the stack limit, too.
extern "C" {
#define SW_WITHOUT_LIMIT                                                                        \
  __attribute__((weak, visibility("hidden"), noreturn, no_split_stack, force_align_arg_pointer, \
                 no_sanitize("thread")))
SW_WITHOUT_LIMIT void __morestack();
// Called for arrays of variable length.
SW_WITHOUT_LIMIT void* __morestack_allocate_stack_space(size_t);
#undef SW_WITHOUT_LIMIT

void __morestack() {
  const sw_extent block{blockIdx.x, blockIdx.y, blockIdx.z};
  const sw_extent thread{threadIdx.x, threadIdx.y, threadIdx.z};
  sw_rt->out_of_stack(sw_worker, &block, &thread);
  __builtin_unreachable();
}
void* __morestack_allocate_stack_space(size_t) { __morestack(); }
}
#endif

// The library's functions in place of the C library's, whose locks and records a fault in a kernel
// would leave broken. They have other names for the linker, and are emitted only where they are
// used.
extern "C" {
int printf(const char*, ...) __asm__("sw_printf");
void* malloc(size_t) noexcept __asm__("sw_malloc");
void free(void*) noexcept __asm__("sw_free");
void* memcpy(void*, const void*, size_t) noexcept SW_CHECKED_AS("sw_memcpy");
void* memmove(void*, const void*, size_t) noexcept SW_CHECKED_AS("sw_memcpy");
void* memset(void*, int, size_t) noexcept SW_CHECKED_AS("sw_memset");
int memcmp(const void*, const void*, size_t) noexcept;
size_t strlen(const char*) noexcept;

#define SW_REPLACES SW_CALLED __attribute__((noinline)) inline
SW_REPLACES int printf([[maybe_unused]] const char* format, ...) {
#ifdef SW_KERNEL_CHECK
  return 0;  // prints only when the kernel runs without checks
#else
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  const int length = sw_rt->print(sw_worker, format, &arguments);
  __builtin_va_end(arguments);
  return length;
#endif
}
// Without a worker, in an initialiser of the module, there is no heap.
SW_REPLACES void* malloc(size_t bytes) noexcept {
  return sw_worker == nullptr ? nullptr : sw_rt->allocate(sw_worker, bytes);
}
SW_REPLACES void free(void* address) noexcept {
  if (sw_worker != nullptr && !sw_rt->release(sw_worker, address))
    sw_fail(
        "free() or delete of an address that malloc() or new did not return, or that is already "
        "freed",
        nullptr, 0);
}
#undef SW_REPLACES

// The checks of -fstack-protector, which the compiler makes before a function with arrays returns.
SW_CALLED void __stack_chk_fail() {
  sw_fail("a write outside of a local array has overwritten the stack", nullptr, 0);
}
// Functions that would end or copy the process, or start others: once in each thread of a launch.
#define SW_REFUSED_CALL(function)                         \
  SW_CALLED void sw_call_##function() __asm__(#function); \
  void sw_call_##function() { sw_fail("a call of " #function "()", nullptr, 0); }
SW_REFUSED_CALL(abort)
SW_REFUSED_CALL(exit)
SW_REFUSED_CALL(_exit)
SW_REFUSED_CALL(_Exit)
SW_REFUSED_CALL(quick_exit)
SW_REFUSED_CALL(raise)
SW_REFUSED_CALL(kill)
SW_REFUSED_CALL(fork)
SW_REFUSED_CALL(vfork)
SW_REFUSED_CALL(clone)
SW_REFUSED_CALL(execl)
SW_REFUSED_CALL(execlp)
SW_REFUSED_CALL(execv)
SW_REFUSED_CALL(execve)
SW_REFUSED_CALL(execvp)
SW_REFUSED_CALL(posix_spawn)
SW_REFUSED_CALL(posix_spawnp)
SW_REFUSED_CALL(system)
SW_REFUSED_CALL(popen)
SW_REFUSED_CALL(pthread_create)
SW_REFUSED_CALL(pthread_exit)
SW_REFUSED_CALL(syscall)
#undef SW_REFUSED_CALL
// Of assert() in the C library's own header.
SW_CALLED void sw_assert_fail(const char*, const char*, unsigned,
                              const char*) __asm__("__assert_fail");
void sw_assert_fail(const char*, const char* file, unsigned line, const char*) {
  sw_fail("assertion failed", file, static_cast<int>(line));
}
}

// A negative size would move the stack pointer into frames that are in use.
SW_FN size_t sw_alloca_bytes(size_t bytes, const char* file, int line) {
  if (bytes > 1ul << 30) sw_fail("alloca() of more memory than a stack has", file, line);
  return bytes;
}
#define __builtin_alloca(bytes) __builtin_alloca(sw_alloca_bytes(bytes, __FILE__, __LINE__))
#ifndef alloca
#define alloca(bytes) __builtin_alloca(bytes)
#endif

#if defined(SW_WITH_OBJECTS) || defined(SW_WITH_ALL)
// Functions for new, delete and virtual functions: the module links with the C library only. Weak,
// because each linked source may define them.
#define SW_WEAK __attribute__((weak))

SW_WEAK void* operator new(size_t bytes) { return malloc(bytes); }
SW_WEAK void* operator new[](size_t bytes) { return malloc(bytes); }
SW_WEAK void operator delete(void* address) noexcept { free(address); }
SW_WEAK void operator delete[](void* address) noexcept { free(address); }
SW_WEAK void operator delete(void* address, size_t) noexcept { free(address); }
SW_WEAK void operator delete[](void* address, size_t) noexcept { free(address); }
#ifndef SW_SYSTEM  // else <new> defines these
inline void* operator new(size_t, void* address) noexcept { return address; }
inline void* operator new[](size_t, void* address) noexcept { return address; }
#endif
extern "C" SW_WEAK void __cxa_pure_virtual() {
  sw_fail("a call of a pure virtual function", nullptr, 0);
}
#undef SW_WEAK
#endif

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(...) \
  ((__VA_ARGS__) ? (void)0 : sw_fail("assertion failed: " #__VA_ARGS__, __FILE__, __LINE__))
#endif
#define __trap() sw_fail("__trap()", __FILE__, __LINE__)
#define __brkpt() sw_fail("__brkpt()", __FILE__, __LINE__)

// The library selects the parts whose names occur in a source: parsing all of them takes a third of
// the compile time of a small kernel. If the selection does not compile, it uses SW_WITH_ALL.
#if defined(SW_WITH_INTRINSICS) || defined(SW_WITH_ALL)
#include "spanwise_intrinsics.h"
#endif
#if defined(SW_WITH_VIDEO) || defined(SW_WITH_ALL)
#include "spanwise_video.h"
#endif
#if defined(SW_WITH_ROUNDING) || defined(SW_WITH_SPECIAL)
#define SW_WITH_MATH 1
#endif
#if defined(SW_WITH_MATH) || defined(SW_WITH_ALL)
#include "spanwise_math.h"
#endif
#if defined(SW_WITH_ATOMICS) || defined(SW_WITH_ALL)
#include "spanwise_atomics.h"
#endif
#if defined(SW_WITH_BARRIERS) || defined(SW_WITH_ALL)
#include "spanwise_barriers.h"
#endif
#if defined(SW_WITH_PTX) || defined(SW_WITH_ALL)
#include "spanwise_ptx.h"
#endif
#if defined(SW_WITH_TEXTURES) || defined(SW_WITH_TEXTURE_REFERENCES) || defined(SW_WITH_ALL)
#include "spanwise_textures.h"
#endif
#if defined(SW_WITH_HOST_API) || defined(SW_WITH_ALL)
#include "spanwise_host_api.h"
#endif
#if (defined(SW_WITH_LIMITS) || defined(SW_WITH_ALL)) && !defined(SW_SYSTEM)
// Macros of headers that nvcc includes before each source, and of <cfloat>, which CUB includes.
#include "float.h"
#include "limits.h"
#include "math.h"
#define RAND_MAX 2147483647
#endif
#ifdef SW_SPLIT_KERNELS
#include "spanwise_split.h"
// Of a kernel that has a split form: fibers find the thread of a fault only. Saves compile time.
#define SW_SPLIT_COLD __attribute__((cold))
#else
#define SW_SPLIT_COLD
#endif
#include "spanwise_launch.h"
