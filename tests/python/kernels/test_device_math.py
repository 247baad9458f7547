# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Every math function of CUDA, for double and float, compared with exact or Python's values."""

import math

import numpy as np
import pytest

from .device_functions import math_functions as functions
from .device_functions.table import Function, check, compare, evaluate, function

COUNT = 60
SUFFIXES = {"": "float64", "f": "float32"}


def samples(low, high, dtype, seed):
    """Numbers of [low, high], evenly by their logarithm if the range is wide and positive."""
    random = np.random.default_rng(seed)
    if low > 0 and high / low > 1e3:
        return np.exp(random.uniform(math.log(low), math.log(high), COUNT)).astype(dtype)
    return random.uniform(low, high, COUNT).astype(dtype)


def absolute(name):
    """The results of `name` are compared with a bound on the absolute error."""
    return name.rstrip("f") in (*functions.BESSEL, "sincos", "sincospi")


def check_absolute(tested, inputs, device, bound):
    (got,) = evaluate([tested], inputs, device)
    expected = [tested.reference(*map(float, row)) for row in zip(*inputs, strict=True)]
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound, err_msg=tested.names[0])


@pytest.mark.parametrize("suffix", SUFFIXES, ids=SUFFIXES.values())
def test_functions_of_one_argument(device, compiler, suffix):
    dtype = SUFFIXES[suffix]
    columns, tested = [], []
    for k, (name, (_, (low, high), ulps)) in enumerate(functions.UNARY.items()):
        columns.append(samples(low, high, dtype, seed=1))
        code = f"{name}{suffix}(table[{k} * {COUNT} + i])"
        tested.append(Function((name + suffix,), code, None, dtype, ulps))
    values = ", ".join(float(x).hex() for x in np.concatenate(columns))
    prelude = f"__device__ const double table[] = {{{values}}};"
    results = evaluate(tested, [np.zeros(COUNT)], device, prelude)
    for one, got, column in zip(tested, results, columns, strict=True):
        name = one.names[0].removesuffix(suffix)
        expected = np.array([float(functions.UNARY[name][0](float(x))) for x in column])
        if absolute(name):
            np.testing.assert_allclose(
                got, expected, rtol=0, atol=1e-5 if suffix else 1e-6, err_msg=name
            )
        else:
            compare(one, got, expected, [column])


@pytest.mark.parametrize("suffix", SUFFIXES, ids=SUFFIXES.values())
def test_functions_of_several_arguments(device, compiler, suffix):
    dtype = SUFFIXES[suffix]
    inputs = [samples(0.5, 20, dtype, seed) for seed in (1, 2, 3)]
    tested = []
    for name, (count, reference, ulps) in functions.SEVERAL.items():

        def value(x, y, z, count=count, reference=reference):
            if reference is None:
                return np.nextafter(x, y)
            return reference(*map(float, (x, y, z)[:count]))

        tested.append(function(name + suffix, count, value, dtype, ulps))
    for name in functions.MIXED:
        one = functions.mixed_function(name, suffix)
        if absolute(name):
            check_absolute(one, inputs, device, 1e-6 if not suffix else 1e-4)
        else:
            tested.append(one)
    check(tested, inputs, device)


def test_fast_functions_of_float(device, compiler):
    for name, (reference, (low, high)) in functions.FAST.items():
        check_absolute(
            function(name, 1, reference, "float32"),
            [samples(low, high, "float32", 1)],
            device,
            1e-3,
        )
    inputs = [samples(0.5, 3, "float32", seed) for seed in (1, 2)]
    check_absolute(function("__powf", 2, math.pow, "float32"), inputs, device, 1e-3)
    check_absolute(function("__fdividef", 2, lambda x, y: x / y, "float32"), inputs, device, 1e-5)
    code = "[&] { float s, c; __sincosf(x, &s, &c); return s - c; }()"
    sincos = Function(("__sincosf",), code, lambda x, y: math.sin(x) - math.cos(x), "float32")
    check_absolute(sincos, inputs, device, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_predicates(device, compiler, dtype):
    suffix = "f" if dtype == "float32" else ""
    x = np.array([0.0, -0.0, 1.5, -2, np.inf, -np.inf, np.nan], dtype)
    tested = [
        function(n, 1, lambda v, f=f: int(f(v)), "int32") for n, f in functions.PREDICATES.items()
    ]
    for name in ("finite", "isinf", "isnan", "signbit"):
        f = functions.PREDICATES["isfinite" if name == "finite" else name]
        code = f"__{name}{suffix}(x) != 0"
        tested.append(Function((f"__{name}{suffix}",), code, lambda v, f=f: int(f(v)), "int32"))
    check(tested, [x], device)


def test_functions_of_float_are_overloads(device, compiler):
    """erfinv(float) is erfinvf, so that an expression of floats stays one."""
    names = [
        "cospi",
        "erfcinv",
        "erfcx",
        "erfinv",
        "exp10",
        "normcdf",
        "normcdfinv",
        "rcbrt",
        "rsqrt",
        "sinpi",
        "j0",
        "j1",
        "y0",
        "y1",
    ]
    tested = [Function((n,), f"(int)sizeof({n}(x))", lambda x: 4, "int32") for n in names]
    check(tested, [np.array([0.5], "float32")], device)


SPECIAL = [
    ("erfinv(1.0)", math.inf),
    ("erfinv(-1.0)", -math.inf),
    ("erfinv(1.5)", math.nan),
    ("erfcinv(0.0)", math.inf),
    ("erfcinv(2.0)", -math.inf),
    ("erfcinv(1.0)", 0.0),
    ("erfcinv(-1.0)", math.nan),
    ("erfcinv(1e-300)", 26.209469960516),
    ("erfinv(1e-300)", 8.862269254527580e-301),
    ("normcdfinv(0.5)", 0.0),
    ("normcdf(-38.0)", 2.8854e-316),
    ("normcdf(100.0)", 1.0),
    ("erfcx(-30.0)", math.inf),
    ("erfcx(1e300)", 5.6418958354775629e-301),
    ("cyl_bessel_i0(0.0)", 1.0),
    ("cyl_bessel_i1(-700.0)", -1.5285e302),
    ("norm(2, (double*)large)", 5e300),
    ("normf(2, (float*)small)", 5e-40),
    ("norm(2, (double*)infinite)", math.inf),
]


def test_special_values(device, compiler):
    tested = [Function((code,), f"(double){code}", None, "float64") for code, _ in SPECIAL]
    prelude = (
        "__device__ double large[] = {3e300, 4e300}, infinite[] = {1 / 0.0, 1.0};"
        "__device__ float small[] = {3e-40f, 4e-40f};"
    )
    results = evaluate(tested, [np.zeros(1)], device, prelude)
    for (code, value), got in zip(SPECIAL, results, strict=True):
        np.testing.assert_allclose(got, [value], rtol=1e-4, err_msg=code)
