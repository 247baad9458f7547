# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and conversions with a rounding direction, compared with exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from support.cuda_toolkit import needs

from .device_functions.rounding import SUFFIXES, root, rounded
from .device_functions.table import Function, check, function


def numbers(dtype):
    """Finite numbers of all sizes: zeros, subnormal ones, neighbours of 1, the largest."""
    info = np.finfo(dtype)
    tiny, one = info.smallest_subnormal, info.dtype.type(1)
    picked = [0.0, tiny, 3 * tiny, info.tiny, 1.0, np.nextafter(one, 2), np.nextafter(one, 0), 3.0]
    picked += [1 / 3, 1e-20, 1e20, info.max, np.nextafter(info.max, one)]
    with np.errstate(all="ignore"):
        return np.array([s * v for v in picked for s in (1, -1)], dtype)


def pairs(dtype):
    random = np.random.default_rng(3)
    x, y = (
        np.array(v, dtype) for v in zip(*itertools.product(numbers(dtype), repeat=2), strict=True)
    )
    with np.errstate(over="ignore"):
        more = (
            random.standard_normal((3, 400)) * 10.0 ** random.integers(-18, 18, (3, 400))
        ).astype(dtype)
    x, y = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
    z = np.concatenate([random.permutation(y[:-400]), more[2]])
    return [x, y, z]


def exactly(operation, dtype, suffix):
    """`operation` of Fractions, rounded; zeros, infinities and NaN are those of IEEE 754."""

    def value(x, y, z):
        try:
            exact = operation(*map(Fraction, map(float, (x, y, z))))
        except ZeroDivisionError:
            return x / y
        if exact != 0:
            return rounded(exact, dtype, suffix)
        return None

    return value


def zero_of(operation, suffix):
    """The sign of a result that is exactly zero."""

    def value(x, y, z):
        signs = [math.copysign(1, v) for v in (x, y, z)]
        first, second = operation(*signs)
        if first == second:
            return math.copysign(0.0, first)
        return -0.0 if suffix == "rd" else 0.0

    return value


def arithmetic(dtype, suffix):
    p, m = ("f", "__fmaf") if dtype == "float32" else ("d", "__fma")
    table = [
        (f"__{p}add_{suffix}", 2, lambda x, y, z: x + y, lambda x, y, z: (x, y)),
        (f"__{p}sub_{suffix}", 2, lambda x, y, z: x - y, lambda x, y, z: (x, -y)),
        (f"__{p}mul_{suffix}", 2, lambda x, y, z: x * y, lambda x, y, z: (x * y, x * y)),
        (f"__{p}div_{suffix}", 2, lambda x, y, z: x / y, lambda x, y, z: (x * y, x * y)),
        (f"{m}_{suffix}", 3, lambda x, y, z: x * y + z, lambda x, y, z: (x * y, z)),
    ]
    if dtype == "float32":
        table.append((f"__fmaf_ieee_{suffix}", *table[-1][1:]))
    result = []
    for name, count, operation, zero in table:
        exact, sign = exactly(operation, dtype, suffix), zero_of(zero, suffix)

        def value(x, y, z, exact=exact, sign=sign):
            found = exact(x, y, z)
            return sign(x, y, z) if found is None else found

        result.append(function(name, count, value, dtype))
    return result


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arithmetic_rounds_in_each_direction(device, compiler, dtype, suffix):
    inputs = pairs(dtype)
    p = "f" if dtype == "float32" else "d"
    unary = [
        function(
            f"__{p}rcp_{suffix}",
            1,
            lambda x, y, z: 1 / x if x == 0 else rounded(1 / Fraction(float(x)), dtype, suffix),
            dtype,
        ),
        Function(
            (f"__{p}sqrt_{suffix}",),
            f"__{p}sqrt_{suffix}({'fabsf' if p == 'f' else 'fabs'}(x))",
            lambda x, y, z: root(abs(Fraction(float(x))), dtype, suffix),
            dtype,
        ),
    ]
    check([*arithmetic(dtype, suffix), *unary], inputs, device)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_arithmetic_of_infinities(device, suffix):
    x = np.array([np.inf, -np.inf, np.inf, 1, 0, np.nan, -1], "float32")
    y = np.array([1, 1, np.inf, np.inf, np.inf, 1, 0], "float32")
    tested = [
        function(f"__fadd_{suffix}", 2, lambda x, y: x + y, "float32"),
        function(f"__fmul_{suffix}", 2, lambda x, y: x * y, "float32"),
        function(f"__fdiv_{suffix}", 2, lambda x, y: x / y, "float32"),
        function(f"__fsqrt_{suffix}", 1, lambda x, y: np.sqrt(x), "float32"),
    ]
    check(tested, [x, y], device)


def integers(dtype):
    info = np.iinfo(dtype)
    random = np.random.default_rng(4)
    special = [
        0,
        1,
        2**24 - 1,
        2**24 + 1,
        2**24 + 3,
        2**30 + 1,
        info.max,
        info.max - 1,
        info.max // 2,
    ]
    special += [2**53 + 1, 2**53 + 3, 2**62 + 1] if info.bits == 64 else []
    values = special + random.integers(0, info.max, 200, dtype=dtype).tolist()
    if info.min < 0:
        values += [-v for v in values] + [info.min, info.min + 1]
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("name", "source", "result"),
    [
        ("__int2float", "int32", "float32"),
        ("__uint2float", "uint32", "float32"),
        ("__ll2float", "int64", "float32"),
        ("__ull2float", "uint64", "float32"),
        ("__ll2double", "int64", "float64"),
        ("__ull2double", "uint64", "float64"),
    ],
)
def test_conversions_of_integers_round_in_each_direction(device, name, source, result):
    tested = [
        function(f"{name}_{s}", 1, lambda x, s=s: rounded(Fraction(int(x)), result, s), result)
        for s in SUFFIXES
    ]
    check(tested, [integers(source)], device)


def test_integers_convert_to_double(device):
    for name, source in (("__int2double_rn", "int32"), ("__uint2double_rn", "uint32")):
        check([function(name, 1, float, "float64")], [integers(source)], device)


def test_double_to_float_rounds_in_each_direction(device):
    random = np.random.default_rng(5)
    x = np.concatenate(
        [
            numbers("float64"),
            numbers("float32"),
            random.standard_normal(400) * 10.0 ** random.integers(-46, 40, 400),
        ]
    )
    x = x[np.nonzero(x)]
    tested = [
        function(
            f"__double2float_{s}",
            1,
            lambda x, s=s: rounded(Fraction(float(x)), "float32", s),
            "float32",
        )
        for s in SUFFIXES
    ]
    check(tested, [x], device)


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_conversions_to_integers_saturate(device, source):
    """NaN becomes 0, or the value with only the highest bit set if a type has 64 bits."""
    name = "__float2" if source == "float32" else "__double2"
    x = np.array(
        [0.5, -0.5, 1.5, 2.5, -2.5, 1e9, -1e9, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan],
        source,
    )
    steps = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    tested = []
    for kind, dtype in (("int", "int32"), ("uint", "uint32"), ("ll", "int64"), ("ull", "uint64")):
        info = np.iinfo(dtype)
        wide = info.bits == 64 or source == "float64"

        def value(x, step, info=info, wide=wide):
            if math.isnan(x):
                return 1 << (info.bits - 1) if wide else 0
            whole = step(x)
            return int(min(max(int(whole) if math.isfinite(whole) else whole, info.min), info.max))

        tested += [
            function(f"{name}{kind}_{s}", 1, lambda x, step=step, v=value: v(float(x), step), dtype)
            for s, step in steps.items()
        ]
    check(tested, [x], device)


def test_pairs_of_floats_round_in_each_direction(device):
    """__fadd2_ru, __fmul2_rz, __ffma2_rd of float2, which GPUs have since compute capability 10.0."""
    needs(device, 10, 0, "__fadd2_rn")
    inputs = pairs("float32")
    tested = []
    for s in SUFFIXES:
        add, _, multiply, _, fused, _ = arithmetic("float32", s)
        for name, one, code in (
            ("__fadd2", add, "__fadd2_@(make_float2(1, x), make_float2(1, y)).y"),
            ("__fmul2", multiply, "__fmul2_@(make_float2(x, 1), make_float2(y, 1)).x"),
            (
                "__ffma2",
                fused,
                "__ffma2_@(make_float2(1, x), make_float2(1, y), make_float2(1, z)).y",
            ),
        ):
            tested.append(
                Function((f"{name}_{s}",), code.replace("@", s), one.reference, "float32")
            )
    check(tested, inputs, device)
