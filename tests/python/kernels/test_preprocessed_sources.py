# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources as a compiler reads them: kernels that macros declare, headers, code that no kernel reaches."""

import time

import numpy as np
import pytest

import spanwise as sw

BODY = "{ x[threadIdx.x] = 3; }"
BY_MACRO = {
    "linkage and specifier": f'#define KERNEL extern "C" __global__\nKERNEL void f(float *x){BODY}',
    "specifier": f"#define KERNEL __global__\nKERNEL void f(float *x){BODY}",
    "specifier and type": f"#define KERNEL __global__ void\nKERNEL f(float *x){BODY}",
    "under a condition": f"#ifdef __CUDACC__\n#define KERNEL __global__\n#else\n#define KERNEL\n#endif\n"
    f"KERNEL void f(float *x){BODY}",
    "of the option": f"KERNEL void f(float *x){BODY}",
    "with the name": f"#define K(name) __global__ void name(float *x)\nK(f){BODY}",
    "with the body": "#define MAKE(name, v) __global__ void name(float *x) { x[threadIdx.x] = v; }\n"
    "MAKE(f, 3)\nMAKE(g, 4)",
    "pasted": "#define MAKE(type, v) __global__ void f##type(type *x) { x[threadIdx.x] = v; }\n"
    f"MAKE(int, 4)\n__global__ void f(float *x){BODY}",
    "of parameters": f"#define GLOBAL\n#define ARRAY(type) GLOBAL type *\n__global__ void f(ARRAY(float) x){BODY}",
    "with dynamic shared memory": "#define SHARED(type, name) extern __shared__ type name[]\n"
    "__global__ void f(float *x) { SHARED(float, s); s[threadIdx.x] = 3; __syncthreads();\n"
    "x[threadIdx.x] = s[3 - threadIdx.x]; }",
    "with PTX": '#define SUM(a, b) asm("add." TYPE " %0, %1, %2;" : "=r"(a) : "r"(a), "r"(b))\n#define TYPE "u32"\n'
    "__global__ void f(float *x) { unsigned a = 1; SUM(a, 2u); x[threadIdx.x] = a; }",
    "with a condition of an expression": "#define VERSION(a, b) ((a) * 10 + (b))\n"
    "#if VERSION(1, 2) > 11 && !defined(MISSING)\n#define V 3\n#else\n#define V 4\n#endif\n"
    "__global__ void f(float *x) { x[threadIdx.x] = V; }",
}


@pytest.mark.parametrize("form", BY_MACRO)
def test_kernels_declared_by_macros_are_found(device, compiler, form):
    options = ["-DKERNEL=__global__"] if form == "of the option" else []
    module = sw.SourceModule(BY_MACRO[form], options=options, device=device)
    x = sw.array(np.full(4, -1, "float32"), device=device)
    module.get_function("f")(x, block=4, shared=16)
    assert x.tolist() == [3] * 4


def test_kernels_of_a_header_by_macros_keep_their_lines(device, compiler, tmp_path):
    (tmp_path / "kernels.h").write_text(
        "#define K(name, v) \\\n__global__ void name(float *x) { *x = v; }\n\nK(f, 2)\n"
    )
    source = (
        '#include "kernels.h"\n#define N 3\n__global__ void g(float *x) {\n*x = N * __LINE__;\n}'
    )
    module = sw.SourceModule(source, include_dirs=[tmp_path], device=device)
    x = sw.array(np.full(1, -1, "float32"), device=device)
    module.get_function("f")(x, block=1)
    assert x.tolist() == [2]
    module.get_function("g")(x, block=1)
    assert x.tolist() == [12]
    (tmp_path / "kernels.h").write_text(
        "\n__device__ void f(float *x) {\n#ifdef N\n*x = missing; }\n#endif\n"
    )
    source += "\n__global__ void h(float *x) { f(x); }"
    with pytest.raises(sw.CompileError, match=r"kernels\.h[:(]4[:)].*missing"):
        sw.SourceModule("#define N 3\n" + source, include_dirs=[tmp_path], device=device)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_headers_that_include_each_other_are_read_once(device, tmp_path, count):
    for i in range(count):
        (tmp_path / f"d{i}").mkdir()
        (tmp_path / f"d{i}" / "h.h").write_text(
            "#pragma once\n" + "".join(f'#include "../d{j}/h.h"\n' for j in range(count) if j != i)
        )
    source = '#include "d0/h.h"\n#include <vector>\nvoid host() { k<<<1, 1>>>(); }\n'
    source += "__global__ void k(float *x) { *x = 1; }"
    begin = time.monotonic()
    sw.SourceModule(source, include_dirs=[tmp_path], device=device)
    assert time.monotonic() - begin < 30


KERNEL = "__global__ void add(float *x) { x[threadIdx.x] += 1; }\n"
PTX = 'asm volatile("bar.arrive %0, 64;" :: "r"(a) : "memory");'
UNREACHED = {
    "launch in a class template": KERNEL
    + "template <class T> struct Tree { T *p; void run() { add<<<1, 32>>>(p); } };",
    "launch in a class": KERNEL
    + "struct Tree { float *p; void run() { add<<<1, 32>>>(p); } };\nint main() { Tree t; t.run(); }",
    "launch in a method of an argument": "struct Tree; __global__ void grow(Tree t);\n"
    "struct Tree { float *p; void run() { grow<<<1, 32>>>(*this); }\n"
    "__device__ float get(int i) const { return p[i]; } };\n"
    "__global__ void grow(Tree t) { t.p[0] = t.get(1); }\n" + KERNEL,
    "strings and vectors in methods of an argument": "#include <string>\n#include <vector>\n"
    'struct Tree { float *p; std::string name() const { return "a"; }\n'
    "Tree() { cudaMalloc(&p, 4); }\n~Tree() { cudaFree(p); }\n"
    "void up(std::vector<float> &v) { cudaMemcpy(p, v.data(), 4, cudaMemcpyHostToDevice); } };\n"
    "__global__ void grow(Tree t) { t.p[0] = 1; }\n" + KERNEL,
    "unknown functions of the host API": "struct Tree { float *p; cudaEvent_t e;\n"
    "bool ready() { return cudaEventQuery(e) == cudaSuccess; } };\n"
    "__global__ void grow(Tree t) { t.p[0] = 1; }\n" + KERNEL,
    "unknown types of the host": "struct Tree { float *p; Missing<int> all() { return {}; } };\n"
    "Missing<int> build(int n) { return Missing<int>(n); }\n"
    "__global__ void grow(Tree t) { t.p[0] = 1; }\n" + KERNEL,
    "PTX in a function": f"__device__ inline void arrive(int a) {{ {PTX} }}\n" + KERNEL,
    "PTX in a function template": f"template <int I> __device__ inline void arrive(int a) {{ {PTX} }}\n"
    + KERNEL,
    "PTX in a method": f"struct S {{ float v; __device__ void arrive(int a) {{ {PTX} }} }};\n"
    "__global__ void grow(S *s) { s->v = 1; }\n" + KERNEL,
    "PTX in a macro": f"#define ARRIVE(a) {PTX}\n" + KERNEL,
    "a method of a library that is left out": "#include <torch/extension.h>\n#include <ATen/ATen.h>\n"
    "struct Tree { float *p; at::Tensor all() const; };\n"
    "torch::Tensor build(torch::Tensor x) { add<<<1, 1>>>(x.data_ptr<float>()); return x; }\n"
    'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("build", &build); }\n'
    "__global__ void grow(Tree t) { t.p[0] = 1; }\n" + KERNEL,
    "a function that another source defines": "int elsewhere(int n);\n"
    "int count(int n) { return elsewhere(n); }\n" + KERNEL,
    "PTX in a template without an instance": f"template <class T> __device__ void arrive(int a) {{ {PTX} }}\n"
    "template <class T> __global__ void tree(T *x) { arrive<T>(3); *x = 1; }\n" + KERNEL,
    "uses of a macro without semicolons": "template <class T> struct vec { T x; };\n"
    "#define TYPES(name, T) using name = vec<T>; using name##_all = vec<T>;\n"
    "TYPES(f, float)\n#ifdef __CUDACC__\nTYPES(d, double)\n#endif\n"
    "template <class T> struct quat { T x; };\nTYPES(i, int)\n"
    "template <class T> __device__ quat<T> operator-(const quat<T> &a) { return {-a.x}; }\n"
    + KERNEL,
    "host only": "__host__ int count() { return missing(3); }\n" + KERNEL,
}


@pytest.mark.parametrize("in_header", [False, True])
@pytest.mark.parametrize("code", UNREACHED)
def test_code_that_no_kernel_reaches_is_no_error(device, compiler, tmp_path, code, in_header):
    source = UNREACHED[code]
    if in_header:
        (tmp_path / "code.h").write_text(source)
        source = '#include "code.h"\n'
    module = sw.SourceModule(source, include_dirs=[tmp_path], device=device, names=["add"])
    x = sw.array(np.arange(4, dtype="float32"), device=device)
    module.get_function("add")(x, block=4)
    assert x.tolist() == [1, 2, 3, 4]


def test_the_error_names_the_way_from_the_kernel(device, compiler):
    if device.kind != "cpu":
        pytest.skip("a GPU has wgmma, whose operands ptxas checks without a way")
    source = """
    struct S { __device__ void fence() {
      asm volatile("wgmma.fence.sync.aligned;"); } };
    __device__ void inner(S &s) { s.fence(); }
    __global__ void other(float *x) { *x = 1; }
    __global__ void k(float *x) { S s; inner(s); }
    """
    with pytest.raises(
        sw.CompileError, match=r"kernel\.cu:3: .*wgmma.*kernel k uses inner, which uses fence"
    ):
        sw.SourceModule(source, device=device)


def test_instances_are_found_by_their_mangled_names(device, compiler):
    source = """
    template <typename T, int N> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a * N; }
    template __global__ void scale<float, 2>(float *, float);
    namespace n { template <class T, bool Up> __global__ void step(T *x) { *x += Up ? 1 : -1; }
    template __global__ void step<double, true>(double *); }
    template <class T> __global__ void negate(T *x) { *x = -*x; }
    template __global__ void negate(float *);
    __global__ void plain(float *x) { x[0] = 9; }
    """
    module = sw.SourceModule(source, device=device)
    x = sw.array(np.array([1, 2], "float32"), device=device)
    module.get_function("_Z5scaleIfLi2EEvPT_S0_")(x, np.float32(3), block=2)
    assert x.tolist() == [6, 12]
    module.get_function("_Z6negateIfEvPT_")(x, block=1)
    assert x.tolist() == [-6, 12]
    module.get_function("_Z5plainPf")(x, block=1)
    assert x.tolist() == [9, 12]
    y = sw.array(np.array([1.5]), device=device)
    module.get_function("_ZN1n4stepIdLb1EEEvPT_")(y, block=1)
    assert y.tolist() == [2.5]


def test_a_variable_with_c_linkage_is_a_definition(device, compiler):
    source = """
    extern "C" __constant__ float scale[2];
    extern "C" __device__ int count;
    extern "C" __global__ void k(float *x) { x[threadIdx.x] *= scale[threadIdx.x]; count = 7; }
    """
    module = sw.SourceModule(source, device=device)
    module.get_global("scale").view("float32")[:] = np.array([2, 3], "float32")
    x = sw.array(np.array([10, 20], "float32"), device=device)
    module.get_function("k")(x, block=2)
    assert x.tolist() == [20, 60]
    assert module.get_global("count").numpy().view("int32").tolist() == [7]


def test_constants_that_nvcc_declares_without_an_include(device, compiler):
    source = """
    __extension__ typedef long long wide;
    __global__ void k(wide *out, double *reals) {
      const wide all[] = {INT_MAX, UINT_MAX, UCHAR_MAX, LONG_MAX, LLONG_MAX, CHAR_BIT, RAND_MAX, INT_MIN};
      for (int i = 0; i < 8; ++i) out[i] = all[i];
      reals[0] = M_PI; reals[1] = INFINITY; reals[2] = NAN; reals[3] = HUGE_VAL;
    }
    """
    module = sw.SourceModule(source, device=device)
    out = sw.array(np.full(8, -1, "int64"), device=device)
    reals = sw.array(np.full(4, -1.0), device=device)
    module.get_function("k")(out, reals, block=1)
    expected = [2**31 - 1, 2**32 - 1, 255, 2**63 - 1, 2**63 - 1, 8, 2**31 - 1, -(2**31)]
    assert out.tolist() == expected
    np.testing.assert_array_equal(reals.numpy(), [np.pi, np.inf, np.nan, np.inf])


def test_conditions_see_the_constants_of_the_systems_headers(device, compiler, tmp_path):
    (tmp_path / "types.h").write_text(
        "#include <limits.h>\n#include <stdint.h>\n#if CHAR_BIT != 8 || UINT_MAX < 0xffffffff\n#error bits\n#endif\n"
        "#if __BYTE_ORDER == __BIG_ENDIAN\n#define ORDER 1\n#else\n#define ORDER 2\n#endif\n"
        "#if __WORDSIZE == 64\n#define WORD 64\n#else\n#define WORD 32\n#endif\n"
        "#ifndef UINT64_MAX\n#define UINT64_MAX 7\n#endif\n"
    )
    source = """
    #include "types.h"
    __global__ void k(double *o) { o[0] = ORDER; o[1] = WORD; o[2] = UINT64_MAX; o[3] = INT_MAX; }
    """
    module = sw.SourceModule(source, include_dirs=[tmp_path], device=device)
    out = sw.array(np.full(4, -1.0), device=device)
    module.get_function("k")(out, block=1)
    assert out.tolist() == [2, 64, 2.0**64, 2.0**31 - 1]


def test_constants_that_nvcc_declares_are_not_defined_again():
    source = """
    #ifndef M_PI
    #define M_PI 3
    #endif
    #ifndef INFINITY
    #define INFINITY 1e30
    #endif
    __global__ void k(double *o) { o[0] = M_PI; o[1] = INFINITY; o[2] = FLT_MAX; }
    """
    out = sw.zeros(3, dtype="float64", device="cpu")
    sw.SourceModule(source, device="cpu").get_function("k")(out, block=1)
    assert out.tolist() == [np.pi, np.inf, np.finfo("float32").max]


def test_a_byte_order_mark_before_a_macro(device, compiler):
    source = "\ufeff/* a */\n#define V(x) (x + 1)\n__global__ void k(int *o) { *o = V(2); }"
    out = sw.zeros(1, dtype="int32", device=device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=1)
    assert out.tolist() == [3]


def test_functions_of_cuda_may_be_declared(device, compiler):
    source = """
    extern __device__ void __syncthreads(void);
    extern "C" __device__ void __threadfence(void);
    __device__ int __popc(unsigned x);
    __global__ void k(int *o) {
      __shared__ int s[4];
      s[threadIdx.x] = __popc(threadIdx.x);
      __syncthreads();
      o[threadIdx.x] = s[3 - threadIdx.x];
    }
    """
    if device.kind != "cpu":
        source = source.replace('extern "C" ', "")
    out = sw.zeros(4, dtype="int32", device=device)
    sw.SourceModule(source, device=device).get_function("k")(out, block=4)
    assert out.tolist() == [2, 1, 1, 0]


def test_shuffles_without_a_mask(device, compiler):
    source = """
    #include <string>
    __device__ double __shfl_down(double v, unsigned by, int width = 32) { return v * 0 + by; }
    __global__ void k(int *o, double *d) {
      int t = threadIdx.x;
      o[t] = __shfl(t, 3) + __shfl_xor(t, 1, 8) + __any(t == 5) + (int)__ballot(t < 2);
      d[t] = __shfl_down(1.5, 2);
    }
    """
    out = sw.zeros(32, dtype="int32", device=device)
    real = sw.zeros(32, dtype="float64", device=device)
    sw.SourceModule(source, device=device).get_function("k")(out, real, block=32)
    np.testing.assert_array_equal(out.numpy(), 3 + (np.arange(32) ^ 1) + 1 + 3)
    assert real.tolist() == [2.0] * 32


@pytest.mark.parametrize("name", ["norm", "max", "exp", "isnan", "erfinv", "atomicAdd", "__vadd4"])
def test_kernel_may_have_the_name_of_a_function_of_cuda(device, name):
    heads = ["__global__", 'extern "C" __global__'] if device.kind == "cpu" else ["__global__"]
    for head in heads:
        x = sw.zeros(4, "float32", device=device)
        source = f"{head} void {name}(float *x) {{ x[threadIdx.x] = threadIdx.x; }}"
        sw.SourceModule(source, device=device).get_function(name)(x, block=4)
        assert x.tolist() == [0, 1, 2, 3]


def test_cpp20_needs_no_option(device, compiler):
    source = """
    template <class T> concept Small = sizeof(T) <= 4;
    template <Small T> __device__ T twice(T x) { return x + x; }
    struct Pair { int a, b; };
    __global__ void k(int *x) {
      constexpr auto add = []<class T>(T a, T b) { return a + b; };
      Pair p{.a = x[0], .b = 2};
      if (p.a > 0) [[likely]] x[0] = add(twice(p.a), p.b);
    }
    """
    x = sw.array(np.full(1, 5, "int32"), device=device)
    sw.SourceModule(source, device=device).get_function("k")(x, block=1)
    assert x.tolist() == [12]
    with pytest.raises(sw.CompileError, match="missing"):
        sw.SourceModule(source + "__global__ void f(int *x) { *x = missing; }", device=device)
    with pytest.raises(sw.CompileError, match="concept"):
        sw.SourceModule(source, options=["-std=c++17"], device=device)


def test_overloaded_kernels_with_types_of_their_namespace():
    source = """namespace a { namespace b { typedef int *Out;
    __global__ void fill(Out o, int n) { o[threadIdx.x] = n; }
    __global__ void fill(Out o, float x, Out p) { o[threadIdx.x] = (int)x + p[0]; }
    } }
    """
    module = sw.SourceModule(source, device="cpu")
    out, one = sw.full(4, -7, dtype="int32", device="cpu"), sw.ones(4, "int32", device="cpu")
    module.get_function("a::b::fill(Out, int)")(out, np.int32(7), block=4)
    assert out.tolist() == [7] * 4
    module.get_function("a::b::fill(Out, float, Out)")(out, np.float32(3), one, block=4)
    assert out.tolist() == [4] * 4


def test_host_classes_of_which_only_the_linker_sees_that_no_kernel_reaches_them():
    source = """
    struct Base { virtual ~Base(); virtual void run(); };
    struct Host : Base { Host(); ~Host(); void run() override; int size; };
    Host::Host() : size(3) {}
    Host::~Host() {}
    __global__ void k(int *x) { x[0] = 5; }
    """
    x = sw.zeros(1, "int32", device="cpu")
    sw.SourceModule(source, device="cpu").get_function("k")(x, block=1)
    assert x.tolist() == [5]
    reached = source.replace("x[0] = 5;", "Host h; h.run(); x[0] = h.size;")
    with pytest.raises(sw.CompileError, match="undefined"):
        sw.SourceModule(reached, device="cpu")
