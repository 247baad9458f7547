# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""half, bfloat16, and the types of 8, 6 and 4 bits in kernels, compared with ml_dtypes and fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from support.arrays import poisoned
from support.cuda_toolkit import needs, toolkit_headers

import spanwise as sw

from .device_functions.rounding import SUFFIXES, rounded
from .device_functions.table import Function, check, evaluate

ml_dtypes = pytest.importorskip("ml_dtypes")

FORMATS = {
    "__nv_fp8_e4m3": ("float8_e4m3fn", 8, "cuda_fp8.h"),
    "__nv_fp8_e5m2": ("float8_e5m2", 8, "cuda_fp8.h"),
    "__nv_fp8_e8m0": ("float8_e8m0fnu", 8, "cuda_fp8.h"),
    "__nv_fp6_e2m3": ("float6_e2m3fn", 6, "cuda_fp6.h"),
    "__nv_fp6_e3m2": ("float6_e3m2fn", 6, "cuda_fp6.h"),
    "__nv_fp4_e2m1": ("float4_e2m1fn", 4, "cuda_fp4.h"),
}
HALVES = {
    "__half": ("float16", "half", "cuda_fp16.h"),
    "__nv_bfloat16": ("bfloat16", "bfloat16", "cuda_bf16.h"),
}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def run(source, device, *arrays, count, threads=256):
    with toolkit_headers():
        kernel = sw.SourceModule(source, device=device).get_function("k")
    kernel(*arrays, block=threads, grid=-(-count // threads))


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_converts_to_float(device, compiler, name):
    dtype, bits, header = FORMATS[name]
    source = f"""
#include <{header}>
__global__ void k(const unsigned char* codes, float* out, double* wide, float* half) {{
  {name} x;
  x.__x = codes[threadIdx.x];
  out[threadIdx.x] = float(x);
  wide[threadIdx.x] = double(x);
  half[threadIdx.x] = __half2float(__half(x));
}}
"""
    codes = np.arange(2**bits, dtype="uint8")
    out, half = (poisoned(2**bits, "float32", device) for _ in range(2))
    wide = poisoned(2**bits, "float64", device)
    run(
        source,
        device,
        sw.array(codes, device=device),
        out,
        wide,
        half,
        count=2**bits,
        threads=2**bits,
    )
    expected = codes.view(dtype_of(dtype)).astype("float32")
    np.testing.assert_array_equal(out.get(), expected)
    np.testing.assert_array_equal(wide.get(), expected.astype("float64"))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(half.get(), expected.astype("float16").astype("float32"))


def sources(count=20000):
    """Numbers of all sizes, many of them halfway between two of a small format."""
    random = np.random.default_rng(7)
    ties = random.integers(-512, 512, count) * 2.0 ** random.integers(-26, 12, count)
    return np.concatenate(
        [ties, ties * (1 + 1e-7), random.standard_normal(count) * 100, [0.0, -0.0]]
    )


def saturated(values, dtype):
    """Nearest numbers of the format, where overflow gives the largest one."""
    info = ml_dtypes.finfo(dtype_of(dtype))
    return np.clip(values, float(info.min), float(info.max)).astype(dtype_of(dtype))


@pytest.mark.parametrize("name", [n for n in FORMATS if "e8m0" not in n])
@pytest.mark.parametrize("source_type", ["float", "double", "__half", "__nv_bfloat16"])
def test_numbers_are_rounded_to_the_nearest_code(device, name, source_type):
    dtype, _, header = FORMATS[name]
    source_dtype = {"float": "float32", "double": "float64"}.get(source_type) or HALVES[
        source_type
    ][0]
    if source_type in HALVES:  # all of them but NaN
        values = np.arange(2**16, dtype="uint16").view(dtype_of(source_dtype))
        values = values[~np.isnan(values.astype("float32"))]
    else:
        values = sources().astype(source_dtype)
    count = len(values)
    source = f"""
#include <{header}>
__global__ void k(const {source_type}* in, unsigned char* out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = {name}(in[i]).__x;
}}
"""
    out = poisoned(count, "uint8", device)
    run(source, device, sw.array(values, device=device), out, np.int32(count), count=count)
    expected = saturated(values.astype("float64"), dtype).view("uint8")
    np.testing.assert_array_equal(out.get(), expected)


def test_overflow_and_nan_of_fp8(device):
    source = """
#include <cuda_fp8.h>
__global__ void k(unsigned* out) {
  const float x[] = {464.0f, 465.0f, 1e30f, INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 6; ++i) {
    out[4 * i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
    out[4 * i + 1] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
    out[4 * i + 2] = __nv_cvt_float_to_fp8(x[i] * 132.2f, __NV_SATFINITE, __NV_E5M2);
    out[4 * i + 3] = __nv_cvt_float_to_fp8(x[i] * 132.2f, __NV_NOSAT, __NV_E5M2);
  }
}
""".replace("INFINITY", "__int_as_float(0x7f800000)").replace("NAN", "__int_as_float(0x7fc00000)")
    out = poisoned(24, "uint32", device)
    run(source, device, out, count=1, threads=1)
    assert out.reshape(6, 4).tolist() == [
        [0x7E, 0x7E, 0x7B, 0x7B],
        [0x7E, 0x7F, 0x7B, 0x7C],
        [0x7E, 0x7F, 0x7B, 0x7C],
        [0x7E, 0x7F, 0x7B, 0x7C],
        [0xFE, 0xFF, 0xFB, 0xFC],
        [0x7F, 0x7F, 0x7F, 0x7F],
    ]


def test_e8m0_rounds_up_or_down(device):
    x = np.array(
        [0.0, 1e-45, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126, 1, 1.25, 2, -3, 3e38, np.inf, np.nan],
        "float32",
    )
    source = """
#include <cuda_fp8.h>
__global__ void k(const float* in, unsigned* out) {
  const int i = threadIdx.x;
  out[3 * i] = __nv_cvt_float_to_e8m0(in[i], __NV_SATFINITE, cudaRoundPosInf);
  out[3 * i + 1] = __nv_cvt_float_to_e8m0(in[i], __NV_NOSAT, cudaRoundZero);
  out[3 * i + 2] = __nv_cvt_float_to_e8m0(in[i], __NV_NOSAT, cudaRoundPosInf);
}
"""
    out = poisoned(3 * len(x), "uint32", device)
    run(source, device, sw.array(x, device=device), out, count=len(x), threads=len(x))
    expected = [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
        [1, 0, 1],
        [1, 1, 1],
        [127, 127, 127],
        [128, 127, 128],
    ]
    expected += [
        [128, 128, 128],
        [129, 128, 129],
        [254, 254, 255],
        [254, 255, 255],
        [255, 255, 255],
    ]
    assert out.reshape(-1, 3).tolist() == expected


def test_pairs_and_quads_of_small_formats(device):
    source = """
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
__global__ void k(unsigned* codes, float* out) {
  const float4 v = make_float4(1.0f, -2.0f, 0.5f, 6.0f);
  const __nv_fp8x4_e4m3 a(v);
  const __nv_fp6x4_e2m3 b(v);
  const __nv_fp4x4_e2m1 c(v);
  codes[0] = a.__x;
  codes[1] = b.__x;
  codes[2] = c.__x;
  const __nv_fp8x2_e5m2 d(make_float2(1.0f, -2.0f));
  codes[3] = d.__x;
  codes[4] = __nv_cvt_float2_to_fp4x2(make_float2(1.0f, -2.0f), __NV_E2M1, cudaRoundNearest);
  const __half2 h(__nv_cvt_fp8x2_to_halfraw2(d.__x, __NV_E5M2));
  const float4 back[] = {(float4)a, (float4)b, (float4)c};
  for (int i = 0; i < 3; ++i) {
    out[4 * i] = back[i].x;
    out[4 * i + 1] = back[i].y;
    out[4 * i + 2] = back[i].z;
    out[4 * i + 3] = back[i].w;
  }
  out[12] = __low2float(h);
  out[13] = __high2float(h);
}
"""
    codes, out = poisoned(5, "uint32", device), poisoned(14, "float32", device)
    run(source, device, codes, out, count=1, threads=1)
    v = np.array([1.0, -2.0, 0.5, 6.0])
    fp8, fp6, fp4 = (
        v.astype(dtype_of(d)).view("uint8").tolist()
        for d in ("float8_e4m3fn", "float6_e2m3fn", "float4_e2m1fn")
    )
    pair = v[:2].astype(dtype_of("float8_e5m2")).view("uint8").tolist()
    expected = [sum(c << 8 * i for i, c in enumerate(codes)) for codes in (fp8, fp6)]
    expected += [
        sum(c << 4 * i for i, c in enumerate(fp4)),
        pair[0] | pair[1] << 8,
        fp4[0] | fp4[1] << 4,
    ]
    assert codes.tolist() == expected
    assert out.tolist() == [*v, *v, *v, 1.0, -2.0]


# Functions of half and bfloat16. "@" is half or bfloat16 in their names, T the type.


def table_of(type_name):
    dtype = HALVES[type_name][0]

    def nearest(x):
        return rounded(Fraction(x), dtype, "rn") if math.isfinite(x) and x != 0 else float(x)

    def clipped(x):
        return 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0) + 0.0

    def relu(x):
        return x if math.isnan(x) or x > 0 else 0.0

    def fused(a, b, c):
        if all(map(math.isfinite, (a, b, c))):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            if exact != 0:
                return rounded(exact, dtype, "rn")
        return float(a * b + c)

    def extreme(pick, keeps_nan):
        def value(a, b, c):
            if math.isnan(a) or math.isnan(b):
                return (
                    math.nan
                    if keeps_nan or (math.isnan(a) and math.isnan(b))
                    else b
                    if math.isnan(a)
                    else a
                )
            return pick((a, math.copysign(1, a)), (b, math.copysign(1, b)))[0]

        return value

    plain = {
        "__hadd": lambda a, b, c: nearest(a + b),
        "__hsub": lambda a, b, c: nearest(a - b),
        "__hmul": lambda a, b, c: nearest(a * b),
    }
    two = {
        **plain,
        "__hmax": extreme(max, False),
        "__hmin": extreme(min, False),
        "__hmax_nan": extreme(max, True),
        "__hmin_nan": extreme(min, True),
        **{n + "_rn": f for n, f in plain.items()},
        **{n + "_sat": lambda a, b, c, f=f: clipped(f(a, b, c)) for n, f in plain.items()},
    }
    three = {
        "__hfma": fused,
        "__hfma_sat": lambda a, b, c: clipped(fused(a, b, c)),
        "__hfma_relu": lambda a, b, c: relu(fused(a, b, c)),
    }
    return two, three


ORDERS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def small_inputs(dtype, with_nan=True):
    info = ml_dtypes.finfo(dtype_of(dtype))
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.0 + float(info.eps),
        float(info.max),
        float(info.smallest_subnormal),
        np.inf,
    ]
    special += [1 + 2 ** -(info.nmant // 2 + 1), -np.inf] + ([np.nan] if with_nan else [])
    random = np.random.default_rng(11)
    more = random.standard_normal((3, 300)) * 2.0 ** random.integers(-12, 8, (3, 300))
    triples = np.array([(a, b, c) for a in special for b in special for c in (0.0, 1e-30, -3.0)]).T
    return [
        np.concatenate(rows).astype(dtype_of(dtype)).astype("float32")
        for rows in zip(triples, more, strict=True)
    ]


@pytest.mark.parametrize("type_name", HALVES)
def test_arithmetic_of_16_bits_is_correctly_rounded(device, compiler, type_name):
    """Fused multiply-add rounds once: a term far below the others decides ties."""
    dtype, _, header = HALVES[type_name]
    if type_name == "__nv_bfloat16":
        needs(device, 8, 0, "arithmetic of bfloat16, which is emulated before,")
    two, three = table_of(type_name)
    prelude = f"#include <{header}>\ntypedef {type_name} T; typedef {type_name}2 T2;"
    tested = []
    for table, letters in ((two, "xy"), (three, "xyz")):
        for name, reference in table.items():
            arguments = ", ".join(f"T({c})" for c in letters)
            pairs = ", ".join(f"T2(T(1.0f), T({c}))" for c in letters)
            base, _, suffix = name.removeprefix("__").partition("_")
            paired = f"__{base}2" + (f"_{suffix}" if suffix else "")

            def value(a, b, c, f=reference):
                with np.errstate(all="ignore"):
                    return np.float32(f(*(np.float64(v) for v in (a, b, c))))

            tested.append(Function((name,), f"(float){name}({arguments})", value, "float32"))
            tested.append(Function((paired,), f"(float){paired}({pairs}).y", value, "float32"))
    inputs = small_inputs(dtype)
    with toolkit_headers():
        check(tested, inputs, device, prelude)


@pytest.mark.parametrize("type_name", HALVES)
def test_comparisons_of_16_bits(device, type_name):
    """Comparisons with u in their name hold for NaN, the others do not."""
    dtype, _, header = HALVES[type_name]
    prelude = f"#include <{header}>\ntypedef {type_name} T; typedef {type_name}2 T2;"
    tested = []
    for name, op in ORDERS.items():
        for u in ("", "u"):

            def holds(a, b, c, op=op, u=u):
                if np.isnan(a) or np.isnan(b):
                    return u == "u"
                return bool(eval("a" + op + "b", {"a": a, "b": b}))

            pair = "(T2(T(x), T(1.0f)), T2(T(y), T(1.0f)))"
            one = name in ("eq", "le", "ge")  # 1 compared with 1
            tested += [
                Function(
                    (f"__h{name}{u}",),
                    f"(int)__h{name}{u}(T(x), T(y))",
                    lambda a, b, c, h=holds: int(h(a, b, c)),
                    "int32",
                ),
                Function(
                    (f"__h{name}{u}2",),
                    f"(int)((float)__h{name}{u}2{pair}.x + 2 * (float)__h{name}{u}2{pair}.y)",
                    lambda a, b, c, h=holds, o=one: h(a, b, c) + 2 * o,
                    "int32",
                ),
                Function(
                    (f"__h{name}{u}2_mask",),
                    f"__h{name}{u}2_mask{pair}",
                    lambda a, b, c, h=holds, o=one: 0xFFFF * h(a, b, c) + 0xFFFF0000 * o,
                    "uint32",
                ),
                Function(
                    (f"__hb{name}{u}2",),
                    f"(int)__hb{name}{u}2{pair}",
                    lambda a, b, c, h=holds, o=one: int(h(a, b, c) and o),
                    "int32",
                ),
            ]
        tested.append(
            Function(
                (f"operator{op}",),
                f"(int)(T(x) {op} T(y))",
                lambda a, b, c, op=op: int(eval("a" + op + "b", {"a": a, "b": b})),
                "int32",
            )
        )
    with toolkit_headers():
        check(tested, small_inputs(dtype), device, prelude)


@pytest.mark.parametrize("type_name", HALVES)
@pytest.mark.parametrize(
    ("source", "dtype"),
    [
        ("float", "float32"),
        ("int", "int32"),
        ("uint", "uint32"),
        ("ll", "int64"),
        ("ull", "uint64"),
        ("short", "int16"),
        ("ushort", "uint16"),
    ],
)
def test_conversions_to_16_bits_round_in_each_direction(device, type_name, source, dtype):
    target, word, header = HALVES[type_name]
    random = np.random.default_rng(12)
    if dtype == "float32":
        x = np.concatenate(
            [sources(200), random.standard_normal(200) * 10.0 ** random.integers(-38, 38, 200)]
        )
        x = x[x != 0].astype(dtype)
    else:
        info = np.iinfo(dtype)
        x = random.integers(info.min, info.max, 300, dtype=dtype, endpoint=True)
        steps = np.array(
            [2**11 + 1, 2**8 + 1, 2**9 + 2, 257, 65505 % info.max, 0, 1, info.max, info.min],
            dtype=dtype,
        )
        far = (
            np.array([2**50 * 257 + 1, 2**50 * 257 - 1], dtype)
            if info.bits == 64
            else np.array([], dtype)
        )
        x = np.concatenate([x, x // 2**12, steps, far])
    prelude = f"#include <{header}>"
    tested = [
        Function(
            (f"__{source}2{word}_{s}",),
            f"(float)__{source}2{word}_{s}(x)",
            lambda v, s=s: np.float32(rounded(Fraction(v.item()), target, s)),
            "float32",
        )
        for s in SUFFIXES
    ]
    with toolkit_headers():
        check(tested, [x], device, prelude)


@pytest.mark.parametrize("type_name", HALVES)
def test_conversions_from_16_bits_saturate(device, type_name):
    dtype, word, header = HALVES[type_name]
    x = np.arange(2**16, dtype="uint16")
    with np.errstate(invalid="ignore"):
        numbers = x.view(dtype_of(dtype)).astype("float64")
    prelude = f"#include <{header}>"
    steps = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    kinds = {
        "int": "int32",
        "uint": "uint32",
        "ll": "int64",
        "ull": "uint64",
        "short": "int16",
        "ushort": "uint16",
    }
    names = [(k, t, s) for k, t in kinds.items() for s in steps] + [
        ("char", "int8", "rz"),
        ("uchar", "uint8", "rz"),
    ]
    tested = [
        Function((f"__{word}2{k}_{s}",), f"__{word}2{k}_{s}(__ushort_as_{word}(x))", None, t)
        for k, t, s in names
    ]
    with toolkit_headers():
        results = evaluate(tested, [x], device, prelude)
    for (_, t, s), function, got in zip(names, tested, results, strict=True):
        info = np.iinfo(t)
        with np.errstate(invalid="ignore"):
            whole = steps[s](np.where(np.isnan(numbers), 0, numbers))
            inside = (whole < info.max) & (whole > info.min)
            limit = np.where(whole > 0, np.array(info.max, t), np.array(info.min, t))
            expected = np.where(inside, np.where(inside, whole, 0).astype(t), limit)
        if info.bits == 64:
            expected = np.where(np.isnan(numbers), np.uint64(2**63).astype(t), expected)
        np.testing.assert_array_equal(got, expected, err_msg=function.names[0])


def test_parts_and_complex_products_of_pairs(device):
    source = """
#include <cuda_fp16.h>
__global__ void k(float* out) {
  const __half2 a = __floats2half2_rn(1.0f, 2.0f), b = __floats2half2_rn(3.0f, 4.0f);
  const __half2 pairs[] = {__low2half2(a), __high2half2(a), __lows2half2(a, b), __highs2half2(a, b),
                           __hcmadd(a, b, __floats2half2_rn(10.0f, 20.0f)),
                           __hisnan2(__floats2half2_rn(0.0f / (a.x == b.x), 1.0f)), __half2(__half2_raw(b))};
  for (int i = 0; i < 7; ++i) {
    out[2 * i] = __low2float(pairs[i]);
    out[2 * i + 1] = __high2float(pairs[i]);
  }
}
""".replace("0.0f / (a.x == b.x)", "__int_as_float(0x7fc00000)")
    out = poisoned(14, "float32", device)
    run(source, device, out, count=1, threads=1)
    assert out.tolist() == [1, 1, 2, 2, 1, 3, 2, 4, 10 + 3 - 8, 20 + 4 + 6, 1, 0, 3, 4]
