# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The error of each function in units in the last place (ULP) is within the bound in
docs/elementwise.md."""

import pathlib

import numpy as np
import pytest

import spanwise as sw

# Function, interval of arguments, and the bound in ULP for float32 and float64. The vector functions
# of the C library guarantee 4 (glibc manual, "Errors in Math Functions"); larger bounds include the
# rounding of the expression around them.
CASES = [
    ("exp", (-80, 80), 4),
    ("exp2", (-120, 120), 4),
    ("expm1", (-20, 80), 4),
    ("log", (1e-30, 1e30), 4),
    ("log2", (1e-30, 1e30), 4),
    ("log10", (1e-30, 1e30), 4),
    ("log1p", (-0.99, 1e6), 4),
    ("sqrt", (0, 1e30), 0.5),
    ("cbrt", (-1e30, 1e30), 4),
    ("sin", (-100, 100), 4),
    ("cos", (-100, 100), 4),
    ("tan", (-100, 100), 4),
    ("arcsin", (-1, 1), 4),
    ("arccos", (-1, 1), 4),
    ("arctan", (-1e4, 1e4), 4),
    ("sinh", (-80, 80), 4),
    ("cosh", (-80, 80), 4),
    ("tanh", (-20, 20), 4),
    ("arcsinh", (-1e10, 1e10), 4),
    ("arccosh", (1, 1e10), 4),
    ("arctanh", (-0.999, 0.999), 4),
    ("sigmoid", (-80, 80), 5),
    ("softplus", (-80, 80), 5),
    ("erf", (-5, 5), 4),
]
REFERENCES = {
    "sigmoid": lambda x: np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x)))),
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
}  # fmt: skip


def points(low, high, dtype):
    random = np.random.default_rng(0)
    values = random.uniform(low, high, 20000)
    small = random.uniform(-1, 1, 5000) * 10.0 ** random.uniform(-6, 0, 5000)
    values = np.concatenate([values, small[(small >= low) & (small <= high)]])
    if low > 0:
        values = np.concatenate([values, np.exp(random.uniform(np.log(low), np.log(high), 20000))])
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "interval", "ulps"), CASES, ids=[c[0] for c in CASES])
def test_unary_error_is_within_the_documented_ulps(name, interval, ulps, dtype, device):
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("no wider type to compare with")
    x = points(*interval, dtype)
    ours = getattr(sw, name)(sw.asarray(x, device=device)).numpy()
    wide = x.astype(np.longdouble)
    if name == "erf":
        mpmath = pytest.importorskip("mpmath")
        x, ours, wide = x[::20], ours[::20], wide[::20]
        with mpmath.workdps(30):
            true = np.array([np.longdouble(str(mpmath.erf(mpmath.mpf(float(v))))) for v in x])
    else:
        true = (REFERENCES.get(name) or getattr(np, name))(wide)
    unit = np.spacing(np.abs(true).astype(dtype)).astype(np.longdouble)
    error = np.abs(ours.astype(np.longdouble) - true) / unit
    worst = int(np.argmax(error))
    # 0.01 ULP for the rounding of the reference.
    assert error[worst] <= ulps + 0.01, (x[worst], ours[worst], true[worst], error[worst])


@pytest.mark.parametrize(("name", "ulps"), [("power", 4), ("arctan2", 4), ("hypot", 4)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_binary_error_is_within_the_documented_ulps(name, ulps, dtype, device):
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("no wider type to compare with")
    random = np.random.default_rng(1)
    x, y = random.uniform(0.01, 20, 20000).astype(dtype), random.uniform(-9, 9, 20000).astype(dtype)
    ours = getattr(sw, name)(sw.asarray(x, device=device), sw.asarray(y, device=device)).numpy()
    true = getattr(np, name)(x.astype(np.longdouble), y.astype(np.longdouble))
    unit = np.spacing(np.abs(true).astype(dtype)).astype(np.longdouble)
    assert (np.abs(ours.astype(np.longdouble) - true) / unit).max() <= ulps + 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_is_accurate_where_it_underflows_or_overflows(dtype, device):
    """Results that are subnormal, 0 or infinite, in blocks of only such results and in mixed blocks."""
    ends = np.log(np.finfo(dtype).max), np.log(np.finfo(dtype).smallest_subnormal)
    x = np.concatenate([e + np.linspace(-2, 2, 401) for e in (*ends, np.log(np.finfo(dtype).tiny))])
    largest = np.finfo(dtype).max
    x = np.concatenate([x, [0.0, -0.0, largest, -largest, np.inf, -np.inf, np.nan]]).astype(dtype)
    mixed = np.concatenate([np.linspace(-9, 9, 1200), x, np.linspace(-9, 9, 1201)]).astype(dtype)
    for values in (x, mixed, x[:1], x[-3:]):
        with np.errstate(all="ignore"):
            true = np.exp(values.astype(np.longdouble)).astype(dtype)
        ours = sw.exp(sw.asarray(values, device=device)).numpy()
        with np.errstate(invalid="ignore"):
            close = np.abs(ours - true) <= 3 * np.spacing(true)
        assert (close | (ours == true) | (np.isnan(ours) & np.isnan(true))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_is_almost_correctly_rounded(dtype, device):
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("no wider type to compare with")
    ends = (-87, 88) if dtype == "float32" else (-708, 709)
    random = np.random.default_rng(2)
    x = np.concatenate([random.uniform(*ends, 200_000), random.uniform(-3, 3, 200_000)]).astype(
        dtype
    )
    true = np.exp(x.astype(np.longdouble))
    ours = sw.array(x, device=device)
    sw.exp(ours, out=ours)
    np.testing.assert_array_equal(ours.numpy(), sw.exp(sw.array(x, device=device)).numpy())
    error = np.abs(ours.numpy().astype(np.longdouble) - true) / np.spacing(true.astype(dtype))
    assert error.max() <= (1.1 if sw.device(device) == sw.device("cpu") and has_fma_loops() else 4)


def has_fma_loops():
    """Whether exp runs the library's own vector loop, which needs AVX2 and FMA, instead of libm's."""
    has = {"avx2", "fma"} <= set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return has and sw.config.instruction_set != "baseline"


def test_float64_powers_are_almost_correctly_rounded(device):
    """Bases close to 1 with large exponents y, by which the error of log(x) is multiplied, and others."""
    if np.dtype(np.longdouble).itemsize <= 8:
        pytest.skip("no wider type to compare with")
    random = np.random.default_rng(3)
    for width, max_exponent in (
        (0.5, 500),
        (0.1, 5e3),
        (1e-3, 5e5),
        (1e-9, 5e11),
        (300, 2),
        (3, 90),
    ):
        x = (
            10 ** random.uniform(-width, width, 30_001)
            if width >= 3
            else random.uniform(1 - width, 1 + width, 30_001)
        )
        y = random.uniform(-max_exponent, max_exponent, x.size)
        with np.errstate(over="ignore", under="ignore"):
            true = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        normal = (true > np.finfo("d").tiny) & (true < np.finfo("d").max)
        ours = sw.power(sw.array(x, device=device), sw.array(y, device=device)).numpy()
        error = np.abs(ours.astype(np.longdouble) - true)[normal] / np.spacing(
            true[normal].astype("d")
        )
        assert error.max() <= (1.2 if sw.device(device) == sw.device("cpu") else 4)


def test_float32_powers_are_almost_correctly_rounded(device):
    random = np.random.default_rng(4)
    for width, max_exponent in ((0.9, 50), (0.1, 500), (0.01, 8000), (1e-4, 5e5), (30, 1.2)):
        logs = random.uniform(-width, width, 30_003)
        x, y = (
            np.exp(logs).astype("f"),
            random.uniform(-max_exponent, max_exponent, logs.size).astype("f"),
        )
        true = np.power(x.astype("d"), y.astype("d"))
        normal = (true > np.finfo("f").tiny) & (true < np.finfo("f").max)
        ours = sw.power(sw.array(x, device=device), sw.array(y, device=device)).numpy()
        error = np.abs(ours.astype("d") - true)[normal] / np.spacing(true[normal].astype("f"))
        assert error.max() <= (1.2 if sw.device(device) == sw.device("cpu") else 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_special_numbers_match_numpy(dtype, device):
    info = np.finfo(dtype)
    special = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        7.5,
        1e10,
        info.max,
        info.tiny,
        info.smallest_subnormal,
        np.inf,
    ]
    special = np.array([*special, *(-s for s in special), np.nan], dtype)
    x, y = (np.ascontiguousarray(v.ravel()) for v in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    result = sw.power(sw.array(x, device=device), sw.array(y, device=device)).numpy()
    np.testing.assert_allclose(result, expected, rtol=4 * info.eps)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[is_number]), np.signbit(expected[is_number]))
    ours = sw.array(x, device=device)
    ours **= sw.array(y, device=device)
    np.testing.assert_array_equal(ours.numpy(), result)
    for exponent in special:
        by_number = sw.power(sw.array(special, device=device), float(exponent)).numpy()
        exponents = np.full_like(special, exponent)
        by_array = sw.power(*(sw.array(v, device=device) for v in (special, exponents))).numpy()
        # The number 0.5 means the square root, which differs at -inf and -0.0, as in NumPy.
        with np.errstate(invalid="ignore"):
            expected_powers = np.sqrt(special) if exponent == 0.5 else by_array
        np.testing.assert_array_equal(by_number, expected_powers)


def test_complex_moduli_do_not_over_or_underflow(device):
    info = np.finfo("float32")
    parts = [0.0, -0.0, 1.0, -3.5, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan]
    x = np.array([complex(re, im) for re in parts for im in (*parts, -np.inf)], "complex64")
    with np.errstate(all="ignore"):
        true = np.hypot(x.real.astype("d"), x.imag.astype("d")).astype("f")
    for values, moduli in ((x, true), (x[1::2], true[1::2]), (x[:3], true[:3])):
        result = sw.absolute(sw.asarray(values, device=device)).numpy()
        np.testing.assert_allclose(result, moduli, rtol=2 * info.eps, atol=info.smallest_subnormal)
    random = np.random.default_rng(5)
    z = (random.normal(size=9001) + 1j * random.normal(size=9001)).astype("complex64")
    true = np.abs(z.astype("complex128"))
    error = np.abs(sw.absolute(sw.asarray(z, device=device)).numpy() - true) / np.spacing(
        true.astype("f")
    )
    assert error.max() <= (0.51 if sw.device(device) == sw.device("cpu") else 4)
