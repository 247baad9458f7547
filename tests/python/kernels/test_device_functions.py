# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of half and bfloat16, vectors, atomics by scope, cache hints, barriers and votes."""

import math

import numpy as np
import pytest
from support.arrays import poisoned
from support.cuda_toolkit import needs, toolkit_headers

import spanwise as sw

from .device_functions.table import Function, check
from .test_device_small_floats import FORMATS, HALVES, dtype_of

NAMES = set()  # those that the tests compose, for test_device_function_names.py


def kernel_of(source, device):
    with toolkit_headers():
        return sw.SourceModule(source, device=device).get_function("k")


# name: (reference, range, units of the last place of a 16-bit number)
HALF_FUNCTIONS = {
    "ceil": (np.ceil, (-9, 9), 0),
    "cos": (math.cos, (-3, 3), 2),
    "exp": (math.exp, (-3, 3), 1),
    "exp10": (lambda x: 10.0**x, (-2, 2), 2),
    "exp2": (lambda x: 2.0**x, (-5, 5), 1),
    "floor": (np.floor, (-9, 9), 0),
    "log": (math.log, (2, 50), 1),
    "log10": (math.log10, (2, 50), 1),
    "log2": (math.log2, (3, 50), 1),
    "rcp": (lambda x: 1 / x, (0.5, 9), 1),
    "rint": (np.rint, (-9, 9), 0),
    "rsqrt": (lambda x: 1 / math.sqrt(x), (0.5, 9), 1),
    "sin": (math.sin, (0.2, 3), 2),
    "sqrt": (math.sqrt, (0.5, 9), 1),
    "tanh": (math.tanh, (0.2, 3), 2),
    "tanh_approx": (math.tanh, (0.2, 3), 2),
    "trunc": (np.trunc, (-9, 9), 0),
}
NAMES |= {f"h{name}" for name in HALF_FUNCTIONS} | {f"h2{name}" for name in HALF_FUNCTIONS}


@pytest.mark.parametrize("type_name", HALVES)
def test_math_functions_of_16_bits(device, compiler, type_name):
    dtype, _, header = HALVES[type_name]
    prelude = f"#include <{header}>\ntypedef {type_name} T; typedef {type_name}2 T2;"
    digits = {"float16": 10, "bfloat16": 7}[dtype]
    for name, (reference, (low, high), ulps) in HALF_FUNCTIONS.items():
        x = (
            np.random.default_rng(1)
            .uniform(low, high, 60)
            .astype(dtype_of(dtype))
            .astype("float32")
        )
        # Of float, a unit of the last place of T has 2**(23 - digits) units.
        allowed = (ulps + 0.51) * 2 ** (23 - digits) if ulps else 0
        codes = (f"(float)h{name}(T(x))", f"(float)h2{name}(T2(T(1.0f), T(x))).y")
        with toolkit_headers():
            check(
                [
                    Function((name,), code, lambda v, f=reference: f(float(v)), "float32", allowed)
                    for code in codes
                ],
                [x],
                device,
                prelude,
            )


def parts_of(word):
    """(name, code, reference) of functions of one type; "@" is the type in names of functions."""
    make = "make_half2" if word == "half" else "make_bfloat162"
    return [
        (f"__double2{word}", "__double2@(x)", lambda x, y: x),
        (f"__float2{word}2_rn", "__high2@(__float2@2_rn((float)x))", lambda x, y: x),
        (f"__floats2{word}2_rn", "__high2@(__floats2@2_rn((float)x, (float)y))", lambda x, y: y),
        (
            f"__float22{word}2_rn",
            "__low2@(__float22@2_rn(make_float2((float)x, (float)y)))",
            lambda x, y: x,
        ),
        (f"__{word}22float2", "T(__@22float2(T2(T(x), T(y))).y)", lambda x, y: y),
        (f"__{word}2{word}2", "__high2@(__@2@2(T(x)))", lambda x, y: x),
        (f"__halves2{word}2", "__low2@(__halves2@2(T(x), T(y)))", lambda x, y: x),
        (f"__low2{word}", f"__low2@({make}(T(x), T(y)))", lambda x, y: x),
        (f"__high2{word}", f"__high2@({make}(T(x), T(y)))", lambda x, y: y),
        (f"__low2{word}2", "__high2@(__low2@2(T2(T(x), T(y))))", lambda x, y: x),
        (f"__high2{word}2", "__low2@(__high2@2(T2(T(x), T(y))))", lambda x, y: y),
        (f"__lows2{word}2", "__high2@(__lows2@2(T2(T(x), T(y)), T2(T(y), T(x))))", lambda x, y: y),
        (
            f"__highs2{word}2",
            "__high2@(__highs2@2(T2(T(x), T(y)), T2(T(y), T(x))))",
            lambda x, y: x,
        ),
        ("__lowhigh2highlow", "__low2@(__lowhigh2highlow(T2(T(x), T(y))))", lambda x, y: y),
        (f"__short_as_{word}", "__short_as_@(__@_as_short(T(x)))", lambda x, y: x),
        (f"__ushort_as_{word}", "__ushort_as_@(__@_as_ushort(T(x)))", lambda x, y: x),
        ("__hneg", "__hneg(T(x))", lambda x, y: -x),
        ("__hneg2", "__high2@(__hneg2(T2(T(x), T(y))))", lambda x, y: -y),
        ("__habs", "__habs(T(x))", lambda x, y: abs(x)),
        ("__habs2", "__high2@(__habs2(T2(T(x), T(y))))", lambda x, y: abs(y)),
        ("__hdiv", "__hdiv(T(x), T(y))", lambda x, y: x / y),
        ("__h2div", "__high2@(__h2div(T2(T(y), T(x)), T2(T(x), T(y))))", lambda x, y: x / y),
    ]


for _type, (_, _word, _) in HALVES.items():
    NAMES |= {name for name, _, _ in parts_of(_word)} | {
        _type,
        f"{_type}2",
        f"{_type}_raw",
        f"{_type}2_raw",
    }
    NAMES |= {f"__{_word}_as_short", f"__{_word}_as_ushort", f"__{_word}22float2"}


@pytest.mark.parametrize("type_name", HALVES)
def test_parts_and_conversions_of_16_bits(device, type_name):
    dtype, word, header = HALVES[type_name]
    names = parts_of(word)
    NAMES.update(
        {f"__{word}_as_short", f"__{word}_as_ushort", "__bfloat1622float2", "__half22float2"}
    )
    nearest = np.vectorize(lambda v: float(np.asarray(v).astype(dtype_of(dtype)).astype("float64")))
    tested = [
        Function(
            (name,),
            f"(float){code.replace('@', word)}",
            lambda x, y, f=f: np.float32(nearest(f(float(nearest(x)), float(nearest(y))))),
            "float32",
        )
        for name, code, f in names
    ]
    flags = [
        ("__hisnan", "(int)__hisnan(T(x))", lambda x, y: int(np.isnan(x))),
        ("__hisinf", "__hisinf(T(x))", lambda x, y: int(np.sign(x)) if np.isinf(x) else 0),
    ]
    prelude = f"#include <{header}>\ntypedef {type_name} T; typedef {type_name}2 T2;"
    random = np.random.default_rng(4)
    with toolkit_headers():
        check(
            tested,
            [random.standard_normal(40) * 9, random.standard_normal(40) + 5],
            device,
            prelude,
        )
        flagged = [Function((name,), code, f, "int32") for name, code, f in flags]
        check(flagged, [np.array([1, np.nan, np.inf, -np.inf]), np.zeros(4)], device, prelude)


SOURCES = {
    "double": ("double", "double2", "double2", "float64"),
    "float": ("float", "float2", "float2", "float32"),
    "halfraw": ("__half_raw", "halfraw2", "__half2_raw", "float16"),
    "bfloat16raw": ("__nv_bfloat16_raw", "bfloat16raw2", "__nv_bfloat162_raw", "bfloat16"),
}
KINDS = {
    "fp8": ("__nv_fp8_e4m3", ", __NV_SATFINITE, __NV_E4M3", 8),
    "fp6": ("__nv_fp6_e2m3", ", __NV_E2M3, cudaRoundNearest", 8),
    "fp4": ("__nv_fp4_e2m1", ", __NV_E2M1, cudaRoundNearest", 4),
    "e8m0": ("__nv_fp8_e8m0", ", __NV_SATFINITE, cudaRoundPosInf", 8),
}


def conversions(kind, source):
    """The names of the functions of one and of two numbers."""
    two = "bfloat162raw" if (kind, source) == ("e8m0", "bfloat16raw") else SOURCES[source][1]
    return f"__nv_cvt_{source}_to_{kind}", f"__nv_cvt_{two}_to_{kind}x2"


CONVERSIONS = [(k, s) for k in KINDS for s in SOURCES if (k, s) != ("e8m0", "halfraw")]
NAMES |= {name for kind, source in CONVERSIONS for name in conversions(kind, source)}


@pytest.mark.parametrize(("kind", "source"), CONVERSIONS)
def test_conversion_functions_of_small_formats(device, kind, source):
    """Those of one and of two numbers give the codes of the types, from each source."""
    name, arguments, shift = KINDS[kind]
    type_1, _, type_2, _ = SOURCES[source]
    dtype, bits, header = FORMATS[name]
    one, two = conversions(kind, source)
    body = {
        "double": "x = v[i]; p.x = v[i]; p.y = v[i + 1];",
        "float": "x = (float)v[i]; p.x = (float)v[i]; p.y = (float)v[i + 1];",
        "halfraw": "x = __half_raw(__half(v[i])); p.x = x.x; p.y = __half_raw(__half(v[i + 1])).x;",
        "bfloat16raw": "x = __nv_bfloat16_raw(__nv_bfloat16(v[i])); p.x = x.x; p.y = __nv_bfloat16_raw(__nv_bfloat16(v[i + 1])).x;",
    }[source]
    text = f"""
#include <{header}>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(const double* v, unsigned* out) {{
  const int i = threadIdx.x;
  {type_1} x;
  {type_2} p;
  {body}
  out[2 * i] = {one}(x{arguments});
  out[2 * i + 1] = {two}(p{arguments});
}}
"""
    codes = np.arange(2**bits, dtype="uint8").view(dtype_of(dtype)).astype("float64")
    values = np.array(
        [
            v
            for v in codes
            if (np.isfinite(v) and 2.0**-24 <= abs(v) < 6e4) or (v == 0 and kind != "e8m0")
        ]
    )
    values = np.concatenate([values, values[:1]])
    count = len(values) - 1
    out = poisoned((count, 2), "uint32", device)
    kernel_of(text, device)(sw.array(values, device=device), out, block=count)
    expected = values.astype(dtype_of(dtype)).view("uint8").astype("uint32")
    np.testing.assert_array_equal(out.get()[:, 0], expected[:-1])
    np.testing.assert_array_equal(out.get()[:, 1], expected[:-1] | expected[1:] << shift)


def test_codes_convert_to_half_and_bfloat16(device):
    source = """
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
__global__ void k(unsigned short* out) {
  const int i = threadIdx.x;
  const __half2_raw a = __nv_cvt_fp8x2_to_halfraw2(i | (255 - i) << 8, __NV_E4M3);
  const __half2_raw b = __nv_cvt_fp6x2_to_halfraw2(i % 64 | (63 - i % 64) << 8, __NV_E3M2);
  const __half2_raw c = __nv_cvt_fp4x2_to_halfraw2(i, __NV_E2M1);
  const __nv_bfloat162_raw d = __nv_cvt_e8m0x2_to_bf162raw(i | (255 - i) << 8);
  const unsigned short row[] = {__nv_cvt_fp8_to_halfraw(i, __NV_E4M3).x, a.x, a.y,
                                __nv_cvt_fp6_to_halfraw(i % 64, __NV_E3M2).x, b.x, b.y,
                                __nv_cvt_fp4_to_halfraw(i % 16, __NV_E2M1).x, c.x, c.y,
                                __nv_cvt_e8m0_to_bf16raw(i).x, d.x, d.y};
  for (int k = 0; k < 12; ++k) out[12 * i + k] = row[k];
}
"""
    out = poisoned((256, 12), "uint16", device)
    kernel_of(source, device)(out, block=256)
    got = np.asarray(out.get())

    def decoded(codes, dtype, to):
        return (
            np.asarray(codes, "uint8")
            .view(dtype_of(dtype))
            .astype("float32")
            .astype(dtype_of(to))
            .astype("float32")
        )

    i = np.arange(256)
    pairs = (i & 15, i >> 4)
    columns = [
        *(decoded(c, "float8_e4m3fn", "float16") for c in (i, i, 255 - i)),
        *(decoded(c, "float6_e3m2fn", "float16") for c in (i % 64, i % 64, 63 - i % 64)),
        *(decoded(c, "float4_e2m1fn", "float16") for c in (i % 16, *pairs)),
        *(decoded(c, "float8_e8m0fnu", "bfloat16") for c in (i, i, 255 - i)),
    ]
    for k, expected in enumerate(columns):
        to = dtype_of("float16" if k < 9 else "bfloat16")
        np.testing.assert_array_equal(got[:, k].copy().view(to).astype("float32"), expected)


VECTORS = {
    **{
        name: (f"{sign}{base}", size)
        for base, size in (("char", 1), ("short", 2), ("int", 4), ("long", 8))
        for name, sign in ((base, ""), (f"u{base}", "unsigned "))
    },
    "longlong": ("long long", 8),
    "ulonglong": ("unsigned long long", 8),
    "float": ("float", 4),
    "double": ("double", 8),
}
VECTORS["char"] = ("signed char", 1)
NAMES |= {f"make_{name}{n}" for name in VECTORS for n in (1, 2, 3, 4)}
NAMES |= {
    f"make_{name}4_{n}a"
    for name in ("long", "ulong", "longlong", "ulonglong", "double")
    for n in (16, 32)
}


def test_vectors_have_their_members_sizes_and_alignments(device):
    checks, expected = [], []
    for name, (_, size) in VECTORS.items():
        for count in (1, 2, 3, 4):
            members = "xyzw"[:count]
            v = f"make_{name}{count}({', '.join(str(i + 1) for i in range(count))})"
            total = " + ".join(f"(int){v}.{m} * {10**i}" for i, m in enumerate(members))
            checks.append(
                f"({total}) * 1000 + (int)sizeof({v}) * 10 + (int)(alignof({name}{count}) / alignof({name}1))"
            )
            alignment = 1 if count % 2 else min(size * count, 16) // size
            expected.append(
                sum((i + 1) * 10**i for i in range(count)) * 1000 + size * count * 10 + alignment
            )
    for name in ("long", "ulong", "longlong", "ulonglong", "double"):
        for alignment in (16, 32):
            if device.kind == "cpu":  # CUDA 13 has them, earlier ones do not
                v = f"make_{name}4_{alignment}a(1, 2, 3, 4)"
                checks.append(
                    f"(int)({v}.x + {v}.w * 10) * 1000 + (int)alignof({name}4_{alignment}a)"
                )
                expected.append(41000 + alignment)
    lines = "".join(f"  out[{i}] = {c};\n" for i, c in enumerate(checks))
    out = poisoned(len(checks), "int32", device)
    kernel_of(f"__global__ void k(int* out) {{\n{lines}}}", device)(out, block=1)
    assert out.tolist() == expected


ATOMICS = {
    "atomicAdd": (lambda old, v: old + v),
    "atomicSub": (lambda old, v: old - v),
    "atomicExch": (lambda old, v: v),
    "atomicMin": min,
    "atomicMax": max,
    "atomicInc": (lambda old, v: 0 if old >= v else old + 1),
    "atomicDec": (lambda old, v: v if old == 0 or old > v else old - 1),
    "atomicAnd": (lambda old, v: old & v),
    "atomicOr": (lambda old, v: old | v),
    "atomicXor": (lambda old, v: old ^ v),
}
NAMES |= {
    f"{name}{scope}" for name in (*ATOMICS, "atomicCAS") for scope in ("", "_block", "_system")
}


@pytest.mark.parametrize("scope", ["", "_block", "_system"])
def test_atomics_of_each_scope(device, scope):
    lines = "".join(
        f"  old[{i}] = {name}{scope}(&x[{i}], 12u);\n" for i, name in enumerate(ATOMICS)
    )
    lines += f"  old[10] = atomicCAS{scope}(&x[10], 5u, 12u);\n  old[11] = atomicCAS{scope}(&x[11], 6u, 12u);\n"
    x = sw.array(np.full(12, 5, "uint32"), device=device)
    old = poisoned(12, "uint32", device)
    kernel_of(f"__global__ void k(unsigned* x, unsigned* old) {{\n{lines}}}", device)(
        x, old, block=1
    )
    assert old.tolist() == [5] * 12
    assert x.tolist() == [*(f(5, 12) % 2**32 for f in ATOMICS.values()), 12, 5]


def test_cache_hints_address_spaces_and_fences(device):
    source = """
__global__ void k(const int* in, int* out) {
  const int i = threadIdx.x;
  const int sum = __ldca(in + i) + __ldcg(in + i) + __ldcs(in + i) + __ldcv(in + i) + __ldlu(in + i) + __ldg(in + i);
  __stwb(out + 4 * i, sum);
  __stcg(out + 4 * i + 1, sum + 1);
  __stcs(out + 4 * i + 2, sum + 2);
  __stwt(out + 4 * i + 3, sum + 3);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  __nanosleep(1);
  __prof_trigger(0);
  int local = 5;
  __shared__ int shared[32];
  shared[i] = 3;
  const int* p = (const int*)__cvta_global_to_generic(__cvta_generic_to_global(in + i));
  const int* q = (const int*)__cvta_local_to_generic(__cvta_generic_to_local(&local));
  const int* r = (const int*)__cvta_shared_to_generic(__cvta_generic_to_shared(shared + i));
  if (*p != in[i] || *q != 5 || *r != 3 || __pm0() + __pm1() + __pm2() + __pm3() == 12345u) out[4 * i] = -1;
}
"""
    x = np.arange(32, dtype="int32")
    out = poisoned((32, 4), "int32", device)
    kernel_of(source, device)(sw.array(x, device=device), out, block=32)
    np.testing.assert_array_equal(out.get(), 6 * x[:, None] + np.arange(4))


def test_addresses_of_constants_and_parameters():
    """Conversions of these give back the address on the CPU; __cvta_grid_constant needs a GPU's parameters."""
    source = """
__constant__ int table[2] = {7, 8};
__global__ void k(int* out) {
  out[0] = *((const int*)__cvta_constant_to_generic(__cvta_generic_to_constant(table)) + 1);
  out[1] = *(const int*)__cvta_grid_constant_to_generic(__cvta_generic_to_grid_constant(table));
}
"""
    out = poisoned(2, "int32", "cpu")
    kernel_of(source, sw.device("cpu"))(out, block=1)
    assert out.tolist() == [8, 7]


def test_reductions_votes_and_barriers(device):
    needs(device, 8, 0, "__reduce_and_sync")
    source = """
__global__ void k(unsigned* out) {
  const unsigned t = threadIdx.x;
  __shared__ unsigned s[64];
  s[t] = t;
  __barrier_sync(0);
  out[t * 4] = __reduce_and_sync(~0u, t | 0x100u);
  out[t * 4 + 1] = __reduce_xor_sync(~0u, t * t);
  out[t * 4 + 2] = __uni_sync(~0u, t < 32) * 2 + __uni_sync(~0u, t < 40);
  if (t < 32) s[t] = 5;
  __barrier_sync_count(2, 64);
  out[t * 4 + 3] = s[63 - t];
}
"""
    out = poisoned((64, 4), "uint32", device)
    kernel_of(source, device)(out, block=64)
    rows = []
    for t in range(64):
        warp = range(t // 32 * 32, t // 32 * 32 + 32)
        xor = 0
        for lane in warp:
            xor ^= lane * lane
        both = 0xFFFFFFFF
        for lane in warp:
            both &= lane | 0x100
        rows.append([both, xor, 3 if t < 32 else 2, 63 - t if 63 - t >= 32 else 5])
    assert out.tolist() == rows


def test_barriers_in_memory(device):
    source = """
#include <cuda_awbarrier_primitives.h>
__global__ void k(int* out) {
  __shared__ __mbarrier_t bar;
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, 32);
  __syncthreads();
  s[t] = t;
  __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_try_wait(&bar, token, 1000)) {}
  int sum = s[31 - t];
  if (t >= 16) {
    __mbarrier_arrive_and_drop(&bar);
    out[t] = sum;
    return;
  }
  token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait_parity(&bar, 1)) {}
  token = __mbarrier_arrive(&bar);
  while (!__mbarrier_try_wait_parity(&bar, 0, 1000)) {}
  out[t] = sum + (__mbarrier_maximum_count() >= 1u << 10 ? 100 : 0);
  if (t == 0) __mbarrier_inval(&bar);
}
"""
    needs(device, 9, 0, "__mbarrier_try_wait")
    out = poisoned(32, "int32", device)
    kernel_of(source, device)(out, block=32)
    assert out.tolist() == [31 - t + (100 if t < 16 else 0) for t in range(32)]


def test_copies_arrive_at_barriers(device):
    source = """
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
__global__ void k(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ __mbarrier_t bar;
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, 32);
  __syncthreads();
  __pipeline_memcpy_async(tile + t, in + t, 4);
  __pipeline_arrive_on(&bar);
  const auto token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {}
  out[t] = tile[31 - t];
}
"""
    x = np.arange(32, dtype="int32")
    out = poisoned(32, "int32", device)
    kernel_of(source, device)(sw.array(x, device=device), out, block=32)
    assert out.tolist() == x[::-1].tolist()


@pytest.mark.parametrize("call", ["__trap", "__brkpt"])
def test_traps_fail_the_kernel(call):
    kernel = sw.SourceModule(
        f"__global__ void k() {{ if (threadIdx.x == 3) {call}(); }}", device="cpu"
    ).get_function("k")
    with pytest.raises(sw.KernelFaultError, match=call):
        kernel(block=4)
