# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The sort of GPUs, which the CPU runs here too, and functions that follow from it, beside NumPy's."""

import numpy as np
import pytest

import spanwise as sw
from spanwise import _core
from spanwise._numpy.by_sort import FUNCTIONS

REAL = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def keys(n, dtype, seed=0):
    """All bits, and many equal keys; of floats zeros of both signs, infinities and NaNs."""
    rng = np.random.default_rng([seed, n])
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    a = rng.integers(0, 256, n * dtype.itemsize, dtype="u1").view(dtype)
    a = np.where(rng.random(n) < 0.3, rng.integers(-2, 3, n).astype(dtype), a)
    if dtype.kind == "f":
        for value in (np.nan, -0.0, np.inf, -np.inf):
            a[rng.random(n) < 0.04] = value
    return a


def order_of(a, axis, descending):
    if descending:
        a = -a if a.dtype.kind == "f" else ~a
    return np.argsort(a, axis, kind="stable")


def check_sort(a, device, axis=-1, convert=lambda x: x):
    """Compares bits, so zeros of both signs and the payloads of NaNs too."""
    x = convert(sw.asarray(a, device="cpu").to(device))
    a = convert(a)
    bits = f"u{a.itemsize}"
    for descending in (False, True):
        order = order_of(a, axis, descending)
        sorted_ = np.take_along_axis(a, order, axis).view(bits)
        values, indices = _core._sort(x, axis, descending, True, True)
        for result in (values, _core._sort(x, axis, descending, True, False)):
            np.testing.assert_array_equal(result.numpy().view(bits), sorted_)
        for result in (indices, _core._sort(x, axis, descending, False, True)):
            np.testing.assert_array_equal(result.numpy(), order)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [0, 1, 31, 100, 4096, 9000])
def test_sorts_every_real_dtype(device, dtype, n):
    if device.kind == "cpu" and (n > 100 or dtype not in ("i2", "f4")):
        pytest.skip("the C++ tests of ops run these on the CPU; each is compiled")
    check_sort(keys(n, dtype), device)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [300, 2000, 4097, 100_000, 3_000_001])
def test_sorts_long_rows_on_a_gpu(device, dtype, n):
    if device.kind == "cpu":
        pytest.skip("NumPy sorts on the CPU; its kernels are run there for shorter rows")
    check_sort(keys(n, dtype), device)


def test_sorts_bfloat16(device):
    a = keys(500, "f4")
    x = sw.asarray(a, device="cpu").to(device).astype("bfloat16")
    rounded = x.astype("float32").numpy()
    values, indices = _core._sort(x, 0, True, True, True)
    order = order_of(rounded, 0, True)
    np.testing.assert_array_equal(indices.numpy(), order)
    np.testing.assert_array_equal(values.astype("float32").numpy(), rounded[order])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_sorts_any_axis_of_any_strides(device, axis):
    a = keys(6 * 8 * 10, "f4").reshape(6, 8, 10)
    for convert in (
        lambda x: x[::-1, ::2, 1:],
        lambda x: x.transpose(2, 0, 1),
        lambda x: x[:, :1, ::-3],
        lambda x: x[:0],
    ):
        check_sort(a, device, axis, convert)


@pytest.mark.parametrize("rows", [1, 3, 70])
def test_sorts_many_long_rows(device, rows):
    if device.kind == "cpu" and rows > 1:
        pytest.skip("the C++ tests of ops run rows on the CPU; each is compiled")
    check_sort(keys(rows * 5000, "f4").reshape(rows, 5000), device)


@pytest.mark.parametrize("shift", [0, 8, 24, 40])
def test_leaves_out_digits_that_all_keys_share(device, shift):
    if device.kind == "cpu":
        pytest.skip("the C++ tests of ops run these on the CPU; each is compiled")
    rng = np.random.default_rng(shift)
    for high in (1, 2, 200, 60_000):
        check_sort(rng.integers(0, high, 9000) << shift, device)


@pytest.mark.parametrize("descending", [False, True])
def test_complex_numbers_are_in_numpys_order(device, descending):
    rng = np.random.default_rng(2)
    parts = rng.choice([0.0, 1, -1, np.inf, np.nan], (2, 200))
    a = np.empty(200, "c8")
    a.real, a.imag = parts
    x = sw.asarray(a, device="cpu").to(device)
    result = FUNCTIONS["sort"](x, descending=descending).numpy()
    if descending:
        assert not np.isnan(result[: np.count_nonzero(~np.isnan(a))]).any()
    else:
        np.testing.assert_array_equal(result, np.sort(a, kind="stable"))
        order = FUNCTIONS["argsort"](x).numpy()
        np.testing.assert_array_equal(order, np.argsort(a, kind="stable"))


def test_sort_refuses_dtypes_without_an_order(device):
    with pytest.raises(sw.DTypeError, match="real"):
        _core._sort(sw.zeros(3, "complex64", device=device), 0, False, True, False)


A = keys(4 * 60, "f4").reshape(4, 60)[:, ::2]
FINITE = np.random.default_rng(4).standard_normal((5, 13)).astype("f4")[:, ::2]
NUMBERS = np.random.default_rng(3).integers(0, 9, (4, 10)).astype("i4")
CUBE = np.random.default_rng(5).standard_normal((3, 4, 5)).astype("f4")[:, ::-2]
CALLS = [
    ("partition", (FINITE, 3), {}),
    ("lexsort", ((NUMBERS[0], NUMBERS[1], NUMBERS[2]),), {}),
    ("lexsort", (NUMBERS[None, :3],), {"axis": 0}),
    ("unique", (A,), {}),
    ("unique", (A,), {"equal_nan": False, "return_counts": True}),
    ("unique", (NUMBERS,), {"return_index": True, "return_inverse": True, "return_counts": True}),
    ("unique", (NUMBERS[:, :0],), {"return_counts": True}),
    ("unique", (NUMBERS > 4,), {"return_index": True}),
    ("isin", (NUMBERS, np.array([1, 5, 5, 200])), {}),
    ("isin", (A, A[:2]), {"invert": True}),
    ("isin", (NUMBERS, NUMBERS[:0]), {}),
    ("intersect1d", (NUMBERS, NUMBERS[1] * 2), {}),
    ("union1d", (NUMBERS, NUMBERS * 1.5), {}),
    ("setdiff1d", (NUMBERS, NUMBERS[0]), {}),
    ("setxor1d", (NUMBERS[0], NUMBERS[1]), {}),
    ("digitize", (FINITE, np.array([-1, 0, 0.5])), {}),
    ("digitize", (FINITE, np.array([0.5, 0, -1])), {"right": True}),
    ("digitize", (NUMBERS, np.array([1, 4, 7], "u1")), {}),
    ("digitize", (NUMBERS.astype("u1"), np.array([7, 4, 1], "u1")), {}),
    ("median", (FINITE,), {}),
    ("median", (A,), {"axis": 1}),
    ("median", (NUMBERS,), {"axis": 0, "keepdims": True}),
    ("nanmedian", (A,), {"axis": 1}),
    ("percentile", (FINITE, [0, 20, 50, 100]), {"axis": 0}),
    ("percentile", (NUMBERS, 30), {"keepdims": True}),
    ("quantile", (FINITE, 0.3), {"axis": -1, "method": "lower"}),
    ("quantile", (FINITE, [[0.3, 0.9]]), {"axis": 1, "method": "nearest"}),
    ("quantile", (FINITE, 0.77), {"method": "midpoint"}),
    ("quantile", (NUMBERS, 0.77), {"method": "lower"}),
    ("quantile", (FINITE, 0.77), {"method": "higher"}),
    ("nanpercentile", (A, [20, 50]), {"axis": 1}),
    ("nanquantile", (A, 0.25), {"axis": 0}),
    ("median", (CUBE,), {"axis": (0, -1)}),
    ("median", (CUBE,), {"axis": [2, 0], "keepdims": True}),
    ("nanquantile", (CUBE, [0.2, 0.5]), {"axis": (1, 2), "keepdims": True}),
    ("quantile", (CUBE, 0.3), {"axis": ()}),
    ("quantile", (CUBE, 0.3), {"axis": 1}),
]


def same(result, expected):
    assert result.shape == expected.shape and np.dtype(result.dtype) == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-6, equal_nan=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_functions_that_follow_from_a_sort_equal_numpys(device, name, args, options):
    def converted(x):
        if isinstance(x, tuple):
            return tuple(map(converted, x))
        return sw.asarray(x, device="cpu").to(device) if isinstance(x, np.ndarray) else x

    expected = getattr(np, name)(*args, **options)
    result = FUNCTIONS[name](*converted(args), **options)
    if name == "partition":
        expected = np.sort(args[0])
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for mine, theirs in zip(result, expected, strict=True):
            same(mine, np.asarray(theirs))
    else:
        same(result, np.asarray(expected))


def test_functions_leave_what_they_do_not_take_to_others():
    x = sw.ones((2, 3), device="cpu")
    assert FUNCTIONS["unique"](x, axis=0) is NotImplemented
    assert FUNCTIONS["median"](x[:0]) is NotImplemented
    assert FUNCTIONS["quantile"](x, 0.5, method="hazen") is NotImplemented
    assert FUNCTIONS["isin"](x * 1j, x) is NotImplemented
    with pytest.raises(ValueError, match=r"\[0, 100\], got 101"):
        FUNCTIONS["percentile"](x, 101)
    with pytest.raises(ValueError, match="different axes"):
        FUNCTIONS["median"](x, (0, -2))
    with pytest.raises(ValueError, match="monotonically"):
        FUNCTIONS["digitize"](x, [0, 2, 1])


def test_public_sorts_of_a_gpu_are_spanwises_own(device):
    a = keys(1000, "f4")
    x = sw.asarray(a, device="cpu").to(device)
    np.testing.assert_array_equal(sw.sort(x).numpy(), np.sort(a))
    order = sw.argsort(x, descending=True).numpy()
    np.testing.assert_array_equal(order, order_of(a, 0, True))
    result = sw.unique_all(x)
    expected = np.unique_all(a)
    for mine, theirs in zip(result, expected, strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs)
    for name in ("sort", "median", "unique_all"):
        way = sw.explain_function(name, device)
        assert ("NumPy's" if device.kind == "cpu" else "Spanwise's own, by a sort") in way
