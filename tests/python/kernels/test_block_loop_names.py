# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel that is split at its barriers must not take for the same in all its parts or all its
threads: variables whose addresses are stored, objects with methods, names that hide others, values that
no thread computes. The results are those of fibers."""

import numpy as np
import pytest

import spanwise as sw

# Declarations, and a body after `s[t] = x[t];` without a barrier.
PROGRAMS = {
    "escape &": (
        "",
        "int v = x[t]; int *q = &v; __syncthreads(); *q += 5; __syncthreads(); o[t] = *q;",
        3,
    ),
    "escape array": (
        "",
        "int a[4] = {1,2,3,4}; a[1] = t; int *q = a + 1; __syncthreads(); q[0] += s[63-t]; __syncthreads(); o[t] = q[0];",
        3,
    ),
    "escape struct member": (
        "struct B { int v; int more[2]; };",
        "B b; b.more[0] = t; b.more[1]=x[t]; int *q = b.more; __syncthreads(); q[1] += s[63-t]; __syncthreads(); o[t] = q[0]+q[1];",
        3,
    ),
    "escape into struct": (
        "struct R { int *p; };",
        "int a[2]; a[0] = t; a[1]=2; R r = {a}; __syncthreads(); r.p[0] += s[63-t]; __syncthreads(); o[t] = r.p[0];",
        3,
    ),
    "escape by function": (
        "__device__ int *pick(int *a, int *b, int c) { return c ? a : b; }",
        "int a = t, b = 2*t; int *q = pick(&a, &b, t & 1); __syncthreads(); *q += s[63-t]; __syncthreads(); o[t] = *q;",
        3,
    ),
    "escape by method": (
        "struct R { int *p; __device__ void bind(int *q) { p = q; } };",
        "int a[2]; a[0] = t; R r; r.bind(a); __syncthreads(); r.p[0] += s[63-t]; __syncthreads(); o[t] = r.p[0];",
        3,
    ),
    "escape ref param": (
        "struct R { int *p; }; __device__ void bind(R &r, int &q) { r.p = &q; }",
        "int a = t; R r; bind(r, a); __syncthreads(); r.p[0] += s[63-t]; __syncthreads(); o[t] = r.p[0];",
        3,
    ),
    "array row pointer": (
        "",
        "int a[2][2]; a[0][0]=a[0][1]=0; a[1][0] = t; a[1][1] = 4; int (*q)[2] = a; __syncthreads(); q[1][0] += s[63-t]; __syncthreads(); o[t] = q[1][0];",
        3,
    ),
    "shared name of a default argument": (
        "__device__ int helper(int a, const int total = 3);",
        "__shared__ int total; if (t == 0) total = x[5]; __syncthreads(); int w = total + t; __syncthreads(); if (t == 0) total = 99; __syncthreads(); o[t] = w;",
        3,
    ),
    "shared name of a constant, uniform": (
        "namespace q { const int total = 7; }",
        "__shared__ int total; if (t == 0) total = 2; __syncthreads(); for (int k = 0; k < total; ++k) { __syncthreads(); o[t] += k + 1; }",
        3,
    ),
    "division that no thread reaches": (
        "",
        "if (t >= m) return; int q = 100 / m; __syncthreads(); o[t] = q + s[t ^ 1];",
        0,
    ),
    "division that no thread reaches 2": (
        "",
        "int v = x[t]; if (t / 32 < m) { int q = 100 / m; v += __shfl_sync(FULL, v, 3) + q; } o[t] = v;",
        0,
    ),
    "division that no thread reaches 3": (
        "",
        "int v = x[t]; if (t / 32 < m) { for (int i = 0; i < 64; i += m) v += __shfl_sync(FULL, v, i & 31); } o[t] = v;",
        0,
    ),
    "modulo in a loop condition": (
        "",
        "if (t >= m) return; for (int i = 0; i < 64 % m; ++i) { __syncthreads(); s[t] += i; } o[t] = s[t];",
        0,
    ),
    "unsigned from below": (
        "",
        "for (unsigned i = t - 2; i < n; i += 8) o[i] = i + 1; __syncthreads(); o[t] += s[t];",
        3,
    ),
    "size_t from below": (
        "",
        "for (size_t i = t - m; i < n; i += 8) o[i] = i + 1; __syncthreads(); o[t] += s[t];",
        3,
    ),
    "unsigned uniform from below": (
        "",
        "for (unsigned i = m - 5 + t; i < n; i += 8) o[i] = i + 1; __syncthreads(); o[t] += s[t];",
        3,
    ),
    "method modifies uniform": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} __device__ void next(int d) { v += d; } };",
        "C c = n; c.next(t); __syncthreads(); c.next(1); o[t] = c.v + s[t ^ 1];",
        3,
    ),
    "method modifies derived": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} __device__ void next(int d) { v += d; } };",
        "C c = t; c.next(2); __syncthreads(); c.next(1); o[t] = c.v + s[t ^ 1];",
        3,
    ),
    "call modifies uniform": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} __device__ int operator()(int d) { v += d; return v; } };",
        "C c = n; int w = c(t); __syncthreads(); w += c(1); o[t] = c.v + w + s[t ^ 1];",
        3,
    ),
    "operator modifies": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} }; __device__ C &operator<<(C &c, int d) { c.v += d; return c; }",
        "C c = n; c << t; __syncthreads(); c << 1 << 2; o[t] = c.v + s[t ^ 1];",
        3,
    ),
    "index operator modifies": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} __device__ int &operator[](int d) { return v; } };",
        "C c = n; c[0] += t; __syncthreads(); c[1] = c[0] + 1; o[t] = c.v + s[t ^ 1];",
        3,
    ),
    "star operator modifies": (
        "struct C { int v; __device__ C(int a = 0) : v(a) {} __device__ int &operator*() { return v; } };",
        "C c = n; *c += t; __syncthreads(); *c = *c + 1; o[t] = c.v + s[t ^ 1];",
        3,
    ),
    "name of a global in a function": (
        "__device__ int limit = 5;\n__device__ int f(int v, int *s) { s[threadIdx.x] = v; __syncthreads(); return s[threadIdx.x ^ 1] + limit; }",
        "int limit = 1000; o[t] = f(t, s) + limit;",
        3,
    ),
    "name of a function in a function": (
        "__device__ int twice(int v) { return 2 * v; }\n__device__ int f(int v, int *s) { s[threadIdx.x] = v; __syncthreads(); return twice(s[threadIdx.x ^ 1]); }",
        "struct L { __device__ int operator()(int v) { return v; } } twice; o[t] = f(t, s) + twice(3);",
        3,
    ),
    "operator reads threadIdx": (
        "struct C { int v; };\n__device__ int operator+(C a, C b) { return a.v + b.v + threadIdx.x; }",
        "__syncthreads(); C a, b; a.v = s[t ^ 1]; b.v = 2; o[t] = a + b;",
        3,
    ),
    "ctor of a stored object reads threadIdx": (
        "struct C { int v; __device__ C() { v = threadIdx.x; } };",
        "__syncthreads(); C a; a.v += 1; __syncthreads(); o[t] = a.v + s[t ^ 1];",
        3,
    ),
    "ctor reads threadIdx": (
        "struct C { int v; __device__ C() { v = threadIdx.x; } };",
        "__syncthreads(); C a; o[t] = a.v + s[t ^ 1];",
        3,
    ),
    "conversion reads threadIdx": (
        "struct C { int v; __device__ operator int() const { return v + threadIdx.x; } };",
        "__syncthreads(); C a; a.v = 3; int w = a; o[t] = w + s[t ^ 1];",
        3,
    ),
    "member initialiser reads threadIdx": (
        "struct C { int v = threadIdx.x; };",
        "__syncthreads(); C a; o[t] = a.v + s[t ^ 1];",
        3,
    ),
    "static function reads": (
        "struct C { static __device__ int f() { return threadIdx.x; } };",
        "__syncthreads(); o[t] = C::f() + s[t ^ 1];",
        3,
    ),
    "default argument reads": (
        "__device__ int f(int a, int b = threadIdx.x) { return a * b; }",
        "__syncthreads(); o[t] = f(3) + s[t ^ 1];",
        3,
    ),
    "template arg function": (
        "__device__ int f(int a) { return a * threadIdx.x; }\ntemplate <int (*F)(int)> __device__ int call(int a) { return F(a); }",
        "__syncthreads(); o[t] = call<f>(3) + s[t ^ 1];",
        3,
    ),
    "swap of uniform": (
        "__device__ void __swap(int &a, int &b) { int c = a; a = b; b = c; }",
        "int u = n, w = m; if (t & 1) __swap(u, w); __syncthreads(); o[t] = u + s[t ^ 1];",
        3,
    ),
    "make of uniform": (
        "__device__ int make_next(int &a) { return ++a; }",
        "int u = n; if (t & 1) make_next(u); __syncthreads(); o[t] = u + s[t ^ 1];",
        3,
    ),
    "atomic return": (
        "",
        "__shared__ int c; if (t == 0) c = 0; __syncthreads(); int v = atomicAdd(&c, 1); s[v] = v; __syncthreads(); o[t] = s[t];",
        3,
    ),
    "atomic conflicts": (
        "",
        "__shared__ int c[4]; if (t < 4) c[t] = 0; __syncthreads(); atomicAdd(&c[x[t] & 3], t); __syncthreads(); atomicMax(&c[x[t+1] & 3], t); __syncthreads(); o[t] = c[t & 3];",
        3,
    ),
    "goto free nested loops": (
        "",
        "int v = 0; for (int i = 0; i < 3; ++i) { for (int j = 0; j < 2; ++j) { s[t] = v + i; __syncthreads(); v += s[(t + j) & 63]; __syncthreads(); if (j == m) break; } if (i == n) continue; v ^= 3; } o[t] = v;",
        3,
    ),
    "typedef of volatile": (
        "typedef volatile int vint;",
        "__syncthreads(); if (t < 32) { vint *v = s; v[t] += v[t+32]; v[t] += v[t+16]; v[t] += v[t+8]; v[t] += v[t+4]; v[t] += v[t+2]; v[t] += v[t+1]; } if (t == 0) o[0] = s[0];",
        3,
    ),
    "volatile parameter of a function": (
        "__device__ void last(volatile int *v, int t) { v[t] += v[t+32]; v[t] += v[t+16]; v[t] += v[t+8]; v[t] += v[t+4]; v[t] += v[t+2]; v[t] += v[t+1]; }",
        "__syncthreads(); if (t < 32) last(s, t); if (t == 0) o[0] = s[0];",
        3,
    ),
    "volatile struct": (
        "struct V { volatile int v[64]; };",
        "__shared__ V q; q.v[t] = x[t]; __syncthreads(); if (t < 32) { q.v[t] += q.v[t+32]; if (t < 16) { q.v[t] += q.v[t+16]; q.v[t] += q.v[t+8]; q.v[t] += q.v[t+4]; q.v[t] += q.v[t+2]; q.v[t] += q.v[t+1]; } } if (t == 0) o[0] = q.v[0];",
        3,
    ),
    "volatile auto": (
        "",
        "__syncthreads(); if (t < 32) { auto *v = (volatile int *)s; v[t] += v[t+32]; v[t] += v[t+16]; v[t] += v[t+8]; v[t] += v[t+4]; v[t] += v[t+2]; v[t] += v[t+1]; } if (t == 0) o[0] = s[0];",
        3,
    ),
    "volatile using template": (
        "template <class T> using V = volatile T;",
        "__syncthreads(); if (t < 32) { V<int> *v = s; v[t] += v[t+32]; v[t] += v[t+16]; v[t] += v[t+8]; v[t] += v[t+4]; v[t] += v[t+2]; v[t] += v[t+1]; } if (t == 0) o[0] = s[0];",
        3,
    ),
    "switch of waiting calls": (
        "__device__ void turn(int &v) { v = __shfl_xor_sync(FULL, v, 1) + 1; }",
        "int v = x[t]; __syncthreads(); switch (n) { case 5: turn(v); break; case 7: v = 3; break; default: v += 2; } o[t] = v;",
        3,
    ),
    "early return": (
        "__device__ int early_total(int v, int d) { if (d & 1) return v; for (int k = 16; k > 0; k /= 2) v = (int)((unsigned)v + (unsigned)__shfl_xor_sync(FULL, v, k)); return v ^ d; }",
        "o[t] = early_total(x[t], n) + 3 * early_total(x[t + 1], n + 1);",
        3,
    ),
    "early return void": (
        "__device__ void et(int &v, int d, int *s) { if (d > 70) return; if (d & 1) { v = 3; return; } else { s[threadIdx.x] = v; } __syncthreads(); v = s[threadIdx.x ^ 1]; if (d == 64) return; v = 8; __syncthreads(); }",
        "int v = x[t], w = t, q = t, z = 2; et(v, n, s); __syncthreads(); et(w, n + 1, s); et(q, 80, s); et(z, 2, s); o[t] = v + 10 * w + 100 * q + 1000 * z;",
        3,
    ),
    "auto across": (
        "",
        "__syncthreads(); auto v = x[t] + 3ll; const auto w = (float)v + s[t ^ 1]; __syncthreads(); s[t] = (int)w; __syncthreads(); o[t] = (int)v + s[t ^ 2] + (int)w;",
        3,
    ),
    "auto pointer across": (
        "",
        "auto *v = s + t; auto b = v[0]; __syncthreads(); *v += 3; auto c = v + 1; __syncthreads(); o[t] = *v + b + (t < 63 ? *c : 0);",
        3,
    ),
    "cg reduce": (
        "namespace cg = cooperative_groups;",
        "auto g = cg::tiled_partition<8>(cg::this_thread_block()); int v = cg::reduce(g, x[t], cg::plus<int>()); auto h = cg::tiled_partition<32>(cg::this_thread_block()); v += cg::reduce(h, (float)x[t], cg::greater<float>()); int q = 0; while (cg::reduce(g, q, cg::plus<int>()) < 20) ++q; o[t] = v + q;",
        3,
    ),
}
HEAD = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#define FULL 0xffffffffu
"""


IN_STEP = [name for name in PROGRAMS if name.startswith(("volatile", "typedef"))]


def kernel_text(i, declarations, body):
    return (
        f"namespace n{i} {{\n{declarations}\n__global__ void k{i}(int *o, const int *x, int n, int m) {{"
        f" int t = threadIdx.x; __shared__ int s[64]; s[t] = x[t]; {body} }}\n}}\n"
    )


def module_of(names, barriers):
    """Sources that rely on warps in step run on fibers, with all of their kernels."""
    texts = (kernel_text(list(PROGRAMS).index(name), *PROGRAMS[name][:2]) for name in names)
    return sw.SourceModule(
        HEAD + "".join(texts), device="cpu", options=["-O0"], cpu_barriers=barriers
    )


@pytest.fixture(scope="module")
def modules():
    names = [name for name in PROGRAMS if name not in IN_STEP]
    return [module_of(names, barriers) for barriers in ("auto", "fibers")]


@pytest.fixture(scope="module")
def in_step():
    return module_of(IN_STEP, "auto")


def run(module, name):
    i = list(PROGRAMS).index(name)
    x = np.random.default_rng(3).integers(0, 1000, 160).astype("int32")
    x[:64] %= 64
    out = sw.full(256, -7, dtype="int32", device="cpu")
    kernel = module.get_function(f"n{i}::k{i}")
    kernel(out, sw.array(x, device="cpu"), np.int32(64), np.int32(PROGRAMS[name][2]), block=64)
    return x, out.numpy()


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in IN_STEP])
def test_loops_and_fibers_give_the_same(name, modules):
    (_, loops), (_, fibers) = (run(module, name) for module in modules)
    np.testing.assert_array_equal(loops, fibers)


@pytest.mark.parametrize("name", IN_STEP)
def test_volatile_by_another_name_means_warps_in_step(name, in_step):
    x, out = run(in_step, name)
    assert out[0] == x[:64].sum()
