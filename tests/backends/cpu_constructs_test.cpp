// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What of CUDA C runs on the CPU, construct by construct, and how the rest is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "backends/cpu_kernels.hpp"

namespace spanwise {
namespace {

using test::CpuKernels;

struct Construct {
  const char* name;
  const char* source;
  const char* kernel = "k";
};
std::ostream& operator<<(std::ostream& out, const Construct& c) { return out << c.name; }

// Each is run with 64 threads and 1024 bytes of dynamic shared memory, and leaves t + 1 in out[t].
const Construct runs[] = {
    {"plain", "__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }"},
    {"static_kernel", "static __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }"},
    {"inline_kernel", "inline __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }"},
    {"extern_c_block",
     R"(extern "C" { __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; } })"},
    {"extern_c_single",
     R"(extern "C" __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; })"},
    {"in_a_namespace",
     "namespace a { namespace b { __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + "
     "1; } } }"},
    {"by_qualified_name",
     "namespace a::b { __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; } }",
     "a::b::k"},
    {"in_an_unnamed_namespace",
     "namespace { __global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; } }"},
    {"forward_declared",
     "__global__ void k(int* out);\n__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + "
     "1; }"},
    {"launch_bounds_before_void",
     "__global__ __launch_bounds__(64) void k(int* out) { out[threadIdx.x] = threadIdx.x + 1; }"},
    {"launch_bounds_after_void",
     "__global__ void __launch_bounds__(64, 2) k(int* out) { out[threadIdx.x] = threadIdx.x + 1; "
     "}"},
    {"device_function",
     "__device__ int f(int x) { return x + 1; }\n__global__ void k(int* out) { out[threadIdx.x] = "
     "f(threadIdx.x); }"},
    {"forceinline",
     "__device__ __forceinline__ int f(int x) { return x + 1; }\n__global__ void k(int* out) { "
     "out[threadIdx.x] = f(threadIdx.x); }"},
    {"noinline",
     "__device__ __noinline__ int f(int x) { return x + 1; }\n__global__ void k(int* out) { "
     "out[threadIdx.x] = f(threadIdx.x); }"},
    {"host_device_function",
     "__host__ __device__ constexpr int f(int x) { return x + 1; }\n__global__ void k(int* out) { "
     "out[threadIdx.x] = f(threadIdx.x); }"},
    {"recursion",
     "__device__ int f(int x) { return x == 0 ? 1 : 1 + f(x - 1); }\n__global__ void k(int* out) { "
     "out[threadIdx.x] = f(threadIdx.x); }"},
    {"member_function",
     "struct S { int v; __device__ int next() const { return v + 1; } };\n__global__ void k(int* "
     "out) { S s{(int)threadIdx.x}; out[threadIdx.x] = s.next(); }"},
    {"lambda",
     "__global__ void k(int* out) { auto f = [=](int x) { return x + 1; }; out[threadIdx.x] = "
     "f(threadIdx.x); }"},
    {"template_device_function",
     "template <class T> __device__ T f(T x) { return x + T(1); }\n__global__ void k(int* out) { "
     "out[threadIdx.x] = f<int>(threadIdx.x); }"},
    {"virtual_function",
     "struct A { __device__ virtual int f(int x) { return x; } }; struct B : A { __device__ int "
     "f(int x) override { return x + 1; } };\n__global__ void k(int* out) { B b; A* a = &b; "
     "out[threadIdx.x] = a->f(threadIdx.x); }"},
    {"function_pointer",
     "__device__ int f(int x) { return x + 1; }\n__global__ void k(int* out) { int (*p)(int) = f; "
     "out[threadIdx.x] = p(threadIdx.x); }"},
    {"shared_array",
     "__global__ void k(int* out) { __shared__ int s[64]; s[63 - threadIdx.x] = 64 - threadIdx.x; "
     "__syncthreads(); out[threadIdx.x] = s[threadIdx.x]; }"},
    {"shared_two_dimensional",
     "__global__ void k(int* out) { __shared__ int s[8][9]; int t = threadIdx.x; s[t / 8][t % 8] = "
     "t + 1; __syncthreads(); out[63 - t] = s[(63 - t) / 8][(63 - t) % 8]; }"},
    {"shared_struct",
     "struct S { int a; float b; };\n__global__ void k(int* out) { __shared__ S s[64]; "
     "s[threadIdx.x].a = threadIdx.x + 1; __syncthreads(); out[63 - threadIdx.x] = s[63 - "
     "threadIdx.x].a; }"},
    {"shared_volatile",
     "__global__ void k(int* out) { volatile __shared__ int s[64]; s[threadIdx.x] = threadIdx.x + "
     "1; __syncthreads(); out[63 - threadIdx.x] = s[63 - threadIdx.x]; }"},
    {"shared_static_and_aligned",
     "__global__ void k(int* out) { static __shared__ int a[64]; __shared__ alignas(32) int b[64]; "
     "__shared__ __align__(16) int c[64]; int t = threadIdx.x; a[t] = b[t] = c[t] = t + 1; "
     "__syncthreads(); out[63 - t] = a[63 - t] + b[63 - t] - c[63 - t]; }"},
    {"shared_in_device_function",
     "__device__ int* f() { __shared__ int s[64]; return s; }\n__global__ void k(int* out) { "
     "f()[threadIdx.x] = threadIdx.x + 1; __syncthreads(); out[63 - threadIdx.x] = f()[63 - "
     "threadIdx.x]; }"},
    {"shared_scalar",
     "__global__ void k(int* out) { __shared__ int n; if (threadIdx.x == 0) n = 1; "
     "__syncthreads(); out[threadIdx.x] = threadIdx.x + n; }"},
    {"shared_at_namespace_scope",
     "__shared__ int s[64];\n__global__ void k(int* out) { s[threadIdx.x] = threadIdx.x + 1; "
     "__syncthreads(); out[63 - threadIdx.x] = s[63 - threadIdx.x]; }"},
    {"dynamic_shared",
     "__global__ void k(int* out) { extern __shared__ int s[]; s[threadIdx.x] = threadIdx.x + 1; "
     "__syncthreads(); out[63 - threadIdx.x] = s[63 - threadIdx.x]; }"},
    {"dynamic_shared_at_namespace_scope",
     "extern __shared__ int s[];\n__device__ void put(volatile int* s, int t) { s[t] = t + 1; "
     "}\n__global__ void k(int* out) { put(s, threadIdx.x); __syncthreads(); out[63 - threadIdx.x] "
     "= s[63 - threadIdx.x]; }"},
    {"dynamic_shared_in_a_namespace",
     "namespace n { extern __shared__ __align__(16) unsigned char bytes[];\n__global__ void k(int* "
     "out) { int* s = reinterpret_cast<int*>(bytes); s[threadIdx.x] = threadIdx.x + 1; "
     "__syncthreads(); out[63 - threadIdx.x] = s[63 - threadIdx.x]; } }"},
    {"dynamic_shared_of_template_type",
     "template <class T> __device__ T* f() { extern __shared__ __align__(sizeof(T)) unsigned char "
     "raw[]; return reinterpret_cast<T*>(raw); }\n__global__ void k(int* out) { "
     "f<int>()[threadIdx.x] = threadIdx.x + 1; __syncthreads(); out[63 - threadIdx.x] = "
     "f<int>()[63 - threadIdx.x]; }"},
    {"dynamic_shared_rows",
     "__global__ void k(int* out) { extern __shared__ int s[][8]; int t = threadIdx.x; s[t / 8][t "
     "% 8] = t + 1; __syncthreads(); out[63 - t] = s[(63 - t) / 8][(63 - t) % 8]; }"},
    {"dynamic_shared_declared_twice",
     "extern __shared__ int s[];\nextern __shared__ int s[];\n__global__ void k(int* out) { "
     "s[threadIdx.x] = threadIdx.x; __syncthreads(); out[threadIdx.x] = s[threadIdx.x] + 1; }"},
    {"constant_variable",
     "__constant__ int one = 1;\n__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + "
     "one; }"},
    {"device_variable",
     "__device__ int one[2] = {0, 1};\n__global__ void k(int* out) { out[threadIdx.x] = "
     "threadIdx.x + one[1]; }"},
    {"read_only_loads",
     "__device__ const int table[2] = {1, 2};\n__global__ void k(int* out) { out[threadIdx.x] = "
     "threadIdx.x + __ldg(&table[0]); }"},
    {"vector_types",
     "__global__ void k(int* out) { int4 v = make_int4(1, 2, 3, 4); float2 f = make_float2(0.5f, "
     "1.5f); uchar3 c = make_uchar3(1, 2, 3); out[threadIdx.x] = threadIdx.x + v.w - c.z + "
     "(int)(f.x * 0); }"},
    {"vector_loads",
     "__global__ void k(int* out) { if (threadIdx.x < 16) { int b = threadIdx.x * 4; "
     "reinterpret_cast<int4*>(out)[threadIdx.x] = make_int4(b + 1, b + 2, b + 3, b + 4); } }"},
    {"dim3_copies",
     "__global__ void k(int* out) { dim3 b = blockDim; uint3 t = threadIdx; const dim3 g(gridDim); "
     "out[t.x] = t.x + b.y * g.z; }"},
    {"unroll_pragma",
     "__global__ void k(int* out) { int v = 0;\n#pragma unroll 4\nfor (int i = 0; i <= "
     "threadIdx.x; ++i) v += 1; out[threadIdx.x] = v; }"},
    {"printf_and_assert",
     "__global__ void k(int* out) { if (out == nullptr) printf(\"never %d\\n\", threadIdx.x); "
     "assert(out != nullptr); out[threadIdx.x] = threadIdx.x + 1; }"},
    {"new_and_malloc",
     "__global__ void k(int* out) { int* p = new int[2]; int* q = (int*)malloc(8); p[0] = "
     "threadIdx.x; q[1] = 1; out[threadIdx.x] = p[0] + q[1]; delete[] p; free(q); }"},
    {"atomics",
     "__global__ void k(int* out) { int t = threadIdx.x; out[t] = 0; atomicAdd(&out[t], t); "
     "atomicSub(&out[t], 1); atomicMax(&out[t], t); atomicMin(&out[t], t + 5); atomicExch(&out[t], "
     "t); atomicOr(&out[t], 0); atomicAnd(&out[t], -1); atomicXor(&out[t], 0); atomicCAS(&out[t], "
     "t, t + 1); }"},
    {"atomics_that_wrap",
     "__global__ void k(int* out) { unsigned a = 5, b = 0; atomicInc(&a, 5); atomicDec(&b, 7); "
     "out[threadIdx.x] = threadIdx.x + 1 + a + b - 7; }"},
    {"atomics_of_reals",
     "__global__ void k(int* out) { float f = 1; double d = 2; atomicAdd(&f, 2.5f); atomicAdd(&d, "
     "1.5); out[threadIdx.x] = threadIdx.x + (int)(f + d) - 6; }"},
    {"atomics_64_bit",
     "__global__ void k(int* out) { unsigned long long v = 1; atomicCAS(&v, 1ull, 1ull << 40); "
     "atomicAdd(&v, 1ull); out[threadIdx.x] = threadIdx.x + (int)(v - (1ull << 40)); }"},
    {"atomics_of_a_block",
     "__global__ void k(int* out) { __shared__ int n; if (threadIdx.x == 0) n = 0; "
     "__syncthreads(); atomicAdd_block(&n, 1); __syncthreads(); out[threadIdx.x] = threadIdx.x + n "
     "- 63; }"},
    {"shuffles",
     "__global__ void k(int* out) { int t = threadIdx.x, v = t; v = __shfl_xor_sync(~0u, v, 5); v "
     "= __shfl_xor_sync(~0u, v, 5); int up = __shfl_up_sync(~0u, t, 1); int first = "
     "__shfl_sync(~0u, t, 0); out[t] = v + 1 + (t % 32 ? up - (t - 1) : up - t) + first - t / 32 * "
     "32; }"},
    {"shuffles_in_segments",
     "__global__ void k(int* out) { int t = threadIdx.x; int first = __shfl_sync(~0u, t, 0, 8); "
     "int down = __shfl_down_sync(~0u, t, 2, 4); int wanted = t % 4 < 2 ? t + 2 : t; out[t] = "
     "first + t % 8 + 1 + (down - wanted); }"},
    {"shuffle_of_double",
     "__global__ void k(int* out) { double v = threadIdx.x + 0.5; v = __shfl_down_sync(~0u, "
     "__shfl_up_sync(~0u, v, 0), 0); out[threadIdx.x] = (int)(v + 0.5); }"},
    {"votes",
     "__global__ void k(int* out) { int t = threadIdx.x; unsigned b = __ballot_sync(~0u, t % 2 == "
     "0); int all = __all_sync(~0u, t >= 0), any = __any_sync(~0u, t == 1000); out[t] = t + (b == "
     "0x55555555u) + all - 1 + any; }"},
    {"matches",
     "__global__ void k(int* out) { int t = threadIdx.x, all = 9; unsigned same = "
     "__match_any_sync(~0u, t % 4); unsigned m = __match_all_sync(~0u, 7, &all); out[t] = t + "
     "(same == 0x11111111u << t % 4) + all - 1 + (m != ~0u); }"},
    {"reductions",
     "__global__ void k(int* out) { int t = threadIdx.x; int sum = __reduce_add_sync(~0u, 1), "
     "least = __reduce_min_sync(~0u, t % 32 - 5), most = __reduce_max_sync(~0u, t % 32); unsigned "
     "o = __reduce_or_sync(~0u, 1u << t % 32); out[t] = t + (sum == 32) + least + 5 + most - 31 + "
     "(o != ~0u); }"},
    {"partial_masks",
     "__global__ void k(int* out) { int t = threadIdx.x, lane = t % 32; unsigned half = lane < 16 "
     "? 0xffffu : 0xffff0000u; int v; if (lane < 16) v = __shfl_sync(half, t, 3); else v = "
     "__shfl_sync(half, t, 20); __syncwarp(half); out[t] = t + 1 + v - (t / 32 * 32 + (lane < 16 ? "
     "3 : 20)); }"},
    {"active_mask",
     "__global__ void k(int* out) { int t = threadIdx.x; unsigned m = 0; if (t % 2) m = "
     "__activemask(); else m = 0xaaaaaaaau; out[t] = t + (m == 0xaaaaaaaau); }"},
    {"return_before_a_barrier",
     "__global__ void k(int* out) { int t = threadIdx.x; out[t] = t + 1; if (t >= 40) return; "
     "__shared__ int s[64]; s[t] = t; __syncthreads(); out[39 - t] = s[39 - t] + 1; }"},
    {"return_before_a_shuffle",
     "__global__ void k(int* out) { int t = threadIdx.x; out[t] = t + 1; if (t % 32 >= 7) return; "
     "int v = __shfl_down_sync(~0u, t, 1); if (t % 32 < 6) out[t] = v; }"},
    {"counting_barriers",
     "__global__ void k(int* out) { int t = threadIdx.x; int n = __syncthreads_count(t % 2), a = "
     "__syncthreads_and(t >= 0), o = __syncthreads_or(t == 99); out[t] = t + (n == 32) + a - 1 + "
     "o; }"},
    {"barrier_in_a_loop",
     "__global__ void k(int* out) { __shared__ int s; int t = threadIdx.x; for (int i = 0; i < 50; "
     "++i) { if (t == i) s = i; __syncthreads(); if (s != i) out[t] = -7; __syncthreads(); } if "
     "(out[t] != -7) out[t] = t + 1; }"},
    {"barrier_through_a_macro",
     "#define WAIT() __syncthreads()\n__global__ void k(int* out) { __shared__ int s[64]; "
     "s[threadIdx.x] = threadIdx.x; WAIT(); out[63 - threadIdx.x] = s[63 - threadIdx.x] + 1; }"},
    {"architecture_guard",
     "__global__ void k(int* out) {\n#ifdef __CUDA_ARCH__\nout[threadIdx.x] = threadIdx.x + "
     "1;\n#endif\n}"},
    {"guarded_ptx",
     "__global__ void k(int* out) {\n#ifndef SW_CPU\nasm volatile(\"bar.sync "
     "0;\");\n#endif\nout[threadIdx.x] = threadIdx.x + 1; }"},
    {"conditional_kernels",
     "#ifdef WIDE\n__global__ void k(double* out) { }\n#else\n__global__ void k(int* out) { "
     "out[threadIdx.x] = threadIdx.x + 1; }\n#endif"},
    {"toolkit_headers",
     "#include <cuda_runtime.h>\n#include \"device_launch_parameters.h\"\n#include "
     "<cuda_fp16.h>\n#include <math_constants.h>\n__global__ void k(int* out) { out[threadIdx.x] = "
     "threadIdx.x + (int)(CUDART_PI_F / 3); }"},
    {"library_headers",
     "#include <cmath>\n#include <math.h>\n#include <cstdint>\n#include <stdint.h>\n#include "
     "<cstdio>\n#include <stdio.h>\n#include <cassert>\n#include <assert.h>\n#include "
     "<cfloat>\n#include <climits>\n#include <cstddef>\n#include <cstring>\n__global__ void k(int* "
     "out) { std::int32_t one = (std::int32_t)std::sqrt(1.0f); out[threadIdx.x] = threadIdx.x + "
     "one + (FLT_MAX < 0) + (INT_MAX < 0); }"},
    {"type_traits_of_the_system",
     "#include <type_traits>\n#include <limits>\n#include <utility>\n__global__ void k(int* out) { "
     "static_assert(std::is_same<int, int>::value, \"\"); out[threadIdx.x] = threadIdx.x + "
     "(std::numeric_limits<float>::max() > 0); }"},
    {"half_precision",
     "#include <cuda_fp16.h>\n__global__ void k(int* out) { half a = __float2half(0.5f), b = a + "
     "a; half2 c = __hadd2(make_half2(a, b), make_half2(b, a)); out[threadIdx.x] = threadIdx.x + "
     "(int)__half2float(b) + (int)(__low2float(c) - __high2float(c)); }"},
    {"bfloat16",
     "#include <cuda_bf16.h>\n__global__ void k(int* out) { __nv_bfloat16 a = "
     "__float2bfloat16(0.5f); out[threadIdx.x] = threadIdx.x + (int)__bfloat162float(a + a); }"},
    {"complex_numbers",
     "#include <cuComplex.h>\n__global__ void k(int* out) { cuFloatComplex i = "
     "make_cuFloatComplex(0, 1); out[threadIdx.x] = threadIdx.x - (int)cuCrealf(cuCmulf(i, i)); }"},
    {"cooperative_block_and_tiles",
     "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* "
     "out) { cg::thread_block b = cg::this_thread_block(); auto w = cg::tiled_partition<32>(b); "
     "__shared__ int s[64]; s[b.thread_rank()] = w.shfl(threadIdx.x, 0) + w.thread_rank(); "
     "b.sync(); out[63 - threadIdx.x] = s[63 - threadIdx.x] + (w.size() == 32 && w.all(1) && "
     "b.size() == 64); }"},
    {"cooperative_small_tiles",
     "#include <cooperative_groups.h>\nusing namespace cooperative_groups;\n__global__ void k(int* "
     "out) { auto t4 = tiled_partition<4>(this_thread_block()); int v = 1; for (int d = 2; d > 0; "
     "d /= 2) v += t4.shfl_down(v, d); v = t4.shfl(v, 0); t4.sync(); out[threadIdx.x] = "
     "threadIdx.x + v - 3 + (t4.meta_group_rank() != threadIdx.x / 4); }"},
    {"coalesced_threads",
     "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* "
     "out) { int t = threadIdx.x; out[t] = t; if (t % 2) { auto g = cg::coalesced_threads(); "
     "out[t] += g.size() == 16 && g.thread_rank() == t % 32 / 2; } else out[t] += 1; }"},
    {"math_functions",
     "__global__ void k(int* out) { float s, c; sincosf(0.0f, &s, &c); out[threadIdx.x] = "
     "threadIdx.x + (int)(c + s + 0.5f * (__expf(0.0f) - 1) + sinpif(1.0f) + cospif(0.5f) + "
     "fdividef(0.0f, 2.0f) + __saturatef(-3.0f) + fminf(0, 1) + fmaxf(0.0f, -1.0f) + powf(0.0f, "
     "2.0f) + fmod(0.0, 3.0) + max(0, -2) + min(0u, 5u) + abs(0) + fabs(0.0) + rsqrtf(1.0f) - 1 + "
     "exp10f(0.0f) - 1 + norm3df(0, 0, 0) + normcdff(0.0f) - 0.5f + erff(0.0f) + log1pf(0.0f) + "
     "cbrtf(0.0f) + hypotf(0, 0) + ldexpf(0.0f, 3)); }"},
    {"integer_intrinsics",
     "__global__ void k(int* out) { unsigned x = 0x80000001u; out[threadIdx.x] = threadIdx.x + "
     "(__popc(x) == 2 && __clz(1) == 31 && __clz(0) == 32 && __ffs(0) == 0 && __ffs(8) == 4 && "
     "__brev(1u) == 0x80000000u && __byte_perm(0x03020100u, 0x07060504u, 0x7410u) == 0x07040100u "
     "&& __funnelshift_l(0x80000000u, 1u, 1u) == 3u && __mulhi(1 << 30, 4) == 1 && __umul24(3u, "
     "5u) == 15u && __sad(3, 5, 1u) == 3u && __clzll(1ll) == 63 && __popcll(~0ull) == 64); }"},
    {"conversion_intrinsics",
     "__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x + (__float2int_rn(2.5f) == 2 && "
     "__float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3 && __float2int_rz(1e20f) == "
     "2147483647 && __float2uint_rz(-5.0f) == 0u && __float_as_int(1.0f) == 0x3f800000 && "
     "__int_as_float(0) == 0.0f && __double2hiint(1.0) == 0x3ff00000 && "
     "__hiloint2double(0x3ff00000, 0) == 1.0); }"},
    {"rounded_arithmetic",
     "__global__ void k(int* out) { float a = 1.0f + 1e-7f; float p = __fmul_rn(a, a); "
     "out[threadIdx.x] = threadIdx.x + (__fsub_rn(p, p) == 0.0f && __fadd_rn(1, 2) == 3 && "
     "__fdiv_rn(6, 3) == 2 && __fsqrt_rn(4) == 2 && __frcp_rn(4) == 0.25f && __fmaf_rn(2, 3, 4) == "
     "10); }"},
    {"clocks_and_fences",
     "__global__ void k(int* out) { long long t = clock64(); __threadfence(); "
     "__threadfence_block(); __nanosleep(10); out[threadIdx.x] = threadIdx.x + (clock64() >= t); "
     "}"},
    {"warp_size",
     "__global__ void k(int* out) { __shared__ int s[warpSize]; s[threadIdx.x % warpSize] = 1; "
     "__syncthreads(); out[threadIdx.x] = threadIdx.x + s[0]; }"},
    {"type_punning",
     "__global__ void k(int* out) { float f = 1.0f; int bits = *(int*)&f; "
     "*(float*)&out[threadIdx.x] = 0; out[threadIdx.x] = threadIdx.x + (bits == 0x3f800000); }"},
    {"macros_named_like_ours",
     "#define T int\n#define N 64\n#define SwT 3\n#define x y\n__global__ void k(T* out) { T x[N]; "
     "x[0] = 1; out[threadIdx.\\\nx] = 0; }\n#undef x\n__global__ void fine(T* out) { "
     "out[threadIdx.x] = threadIdx.x + 1; }",
     "fine"},
};

class CpuConstructs : public testing::TestWithParam<std::tuple<const char*, Construct>> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string("/usr/bin/") + std::get<0>(GetParam())))
      GTEST_SKIP() << std::get<0>(GetParam()) << " is not installed";
  }
  test::Environment compiler_{"CXX", std::get<0>(GetParam())};
};

TEST_P(CpuConstructs, Run) {
  const Construct& construct = std::get<1>(GetParam());
  CpuKernels kernels(construct.source);
  std::vector<int> out(64, -1);
  kernels.run(construct.kernel, {{1}, {64}, 1024}, out.data());
  for (int t = 0; t < 64; ++t)
    ASSERT_EQ(out[static_cast<std::size_t>(t)], t + 1) << construct.source;
}

template <class Info>
std::string construct_name(const Info& way) {
  const std::string compiler = std::get<0>(way.param);
  return compiler.substr(0, compiler.size() - 2) + "_" + std::get<1>(way.param).name;
}
INSTANTIATE_TEST_SUITE_P(Gnu, CpuConstructs,
                         testing::Combine(testing::Values("g++"), testing::ValuesIn(runs)),
                         construct_name<testing::TestParamInfo<CpuConstructs::ParamType>>);
INSTANTIATE_TEST_SUITE_P(Clang, CpuConstructs,
                         testing::Combine(testing::Values("clang++"), testing::ValuesIn(runs)),
                         construct_name<testing::TestParamInfo<CpuConstructs::ParamType>>);

struct Refusal {
  const char* name;
  const char* source;
  std::vector<const char*> message;
};
std::ostream& operator<<(std::ostream& out, const Refusal& r) { return out << r.name; }

const Refusal refusals[] = {
    {"inline_ptx",
     "__global__ void k(int* out) {\n  asm volatile(\"bar.sync 0;\");\n}",
     {"kernel.cu:2", "PTX", "asm", "SW_CPU"}},
    {"inline_ptx_under_a_condition",
     "#if __CUDA_ARCH__ >= 300\n__global__ void k(int* out) {\n  asm volatile(\"bar.sync "
     "0;\");\n}\n#endif",
     {"kernel.cu:3", "PTX", "SW_CPU"}},
    {"dynamic_parallelism",
     "__global__ void a() {}\n__global__ void k(int* out) {\n  a<<<1, 32>>>();\n}",
     {"kernel.cu:3", "<<<"}},
    {"textures",
     "__global__ void k(float* out, cudaTextureObject_t t) {\n  out[0] = tex2D<float>(t, 0, 0);\n}",
     {"kernel.cu:1", "textures"}},
    {"texture_reads",
     "__global__ void k(float* out, unsigned long long t) {\n  out[0] = tex1Dfetch<float>(t, "
     "0);\n}",
     {"kernel.cu:2", "tex1Dfetch"}},
    {"surfaces",
     "__global__ void k(unsigned long long s) {\n  surf2Dwrite(1, s, 0, 0);\n}",
     {"kernel.cu:2", "surf2Dwrite"}},
    {"tensor_cores",
     "#include <mma.h>\nusing namespace nvcuda;\n__global__ void k() { }",
     {"kernel.cu:1", "mma.h"}},
    {"tensor_core_namespace",
     "__global__ void k() {\n  nvcuda::wmma::fill_fragment(0);\n}",
     {"kernel.cu:2", "wmma"}},
    {"clusters",
     "__global__ void __cluster_dims__(2, 1, 1) k(int* out) { }",
     {"kernel.cu:1", "clusters"}},
    {"grid_synchronisation",
     "#include <cooperative_groups.h>\n__global__ void k() {\n  "
     "cooperative_groups::this_grid().sync();\n}",
     {"kernel.cu:3", "whole grid"}},
    {"asynchronous_copies",
     "__global__ void k(int* a) {\n  __pipeline_memcpy_async(a, a, 4);\n}",
     {"kernel.cu:2", "asynchronous copies"}},
    {"asynchronous_barriers",
     "#include <cuda/barrier>\n__global__ void k() {}",
     {"kernel.cu:1", "cuda/barrier"}},
    {"wide_shuffle",
     "struct S { double a, b; };\n__global__ void k(S* s) {\n  s[0] = __shfl_sync(~0u, s[0], "
     "0);\n}",
     {"8 bytes"}},
    {"syntax_error",
     "__global__ void k(int* out) {\n  int x = ;\n}",
     {"kernel.cu:2", "could not compile"}},
    {"undeclared_name",
     "__global__ void k(int* out) {\n\n  out[0] = nowhere;\n}",
     {"kernel.cu:3", "nowhere"}},
    {"undefined_function",
     "__device__ int nowhere(int);\n__global__ void k(int* out) { out[0] = nowhere(1); }",
     {"nowhere"}},
    {"error_behind_a_rewrite",
     "__global__ void k(int* out) {\n  extern __shared__\n    int s[];\n  s[0] = nowhere;\n}",
     {"kernel.cu:4"}},
    {"exceptions", "__global__ void k(int* out) { throw 1; }", {"exception"}},
};

class CpuRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(CpuRefusals, NameTheConstructAndTheLine) {
  try {
    CpuKernels kernels(GetParam().source);
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    for (const char* part : GetParam().message) EXPECT_THAT(error.what(), testing::HasSubstr(part));
    EXPECT_THAT(error.source(), testing::HasSubstr("    1 | "));
    EXPECT_FALSE(error.log().empty());
  }
}
INSTANTIATE_TEST_SUITE_P(All, CpuRefusals, testing::ValuesIn(refusals),
                         [](const auto& way) { return std::string(way.param.name); });

TEST(CpuNames, OfTheSourceMayBeWhatAnotherSourceCouldNotHave) {
  CpuKernels kernels(
      "__device__ float tex2D(float x) { return x; }\n__global__ void k(float* out) { out[0] = "
      "tex2D(3); }");
  float out = 0;
  kernels.run("k", {}, &out);
  EXPECT_EQ(out, 3);
}

TEST(CpuTemplates, AreCompiledForTheNamesAskedFor) {
  CpuKernels kernels(
      "namespace n { template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; "
      "}\n"
      "template <class T> __global__ void sum(T* x) { __shared__ T s[4]; s[threadIdx.x] = "
      "x[threadIdx.x]; __syncthreads();\n"
      "if (threadIdx.x == 0) x[0] = s[0] + s[1] + s[2] + s[3]; } }",
      {"n::scale<float, 3>", "&n::scale<double,2>", "n::sum<int>"});
  float f[2] = {1, 2};
  kernels.run("n::scale<float, 3>", {{1}, {2}}, &f[0]);
  EXPECT_EQ(f[1], 6);
  double d[2] = {1, 2};
  kernels.run("&n::scale<double,2>", {{1}, {2}}, &d[0]);
  EXPECT_EQ(d[1], 4);
  int i[4] = {1, 2, 3, 4};
  kernels.run("n::sum<int>", {{1}, {4}}, &i[0]);
  EXPECT_EQ(i[0], 10);
  EXPECT_EQ(kernels.binary().symbols.size(), 3u);
}

TEST(CpuTemplates, OfSpecialisationsRunTheSpecialisation) {
  CpuKernels kernels(
      "template <class T> __global__ void k(int* out) { out[0] = 1; }\n"
      "template <> __global__ void k<float>(int* out) { out[0] = 2; }",
      {"k<int>", "k<float>"});
  int out = 0;
  kernels.run("k<float>", {}, &out);
  EXPECT_EQ(out, 2);
  kernels.run("k<int>", {}, &out);
  EXPECT_EQ(out, 1);
}

TEST(CpuNames, OfOverloadsCarryTheirTypes) {
  CpuKernels kernels(
      "__global__ void k(int* out) { out[0] = 1; }\n__global__ void k(int* out, float x) { out[0] "
      "= 2; }");
  int out = 0;
  kernels.run("k(int *, float)", {}, &out, 1.0f);
  EXPECT_EQ(out, 2);
  kernels.run("k(int *)", {}, &out);
  EXPECT_EQ(out, 1);
}

}  // namespace
}  // namespace spanwise
