# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans against NumPy in double precision: any layout, axes, dtype and device."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from support.arrays import COMPUTABLE, assert_same, numbers, pair, poisoned, windows

import spanwise as sw

pytest.importorskip("hypothesis")
from hypothesis import given, strategies as st

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SUMS = ("sum", "prod", "nansum")
MOMENTS = ("mean", "var", "std")
ORDERS = ("min", "max", "ptp")
TRUTHS = ("any", "all", "count_nonzero")
PLACES = ("argmin", "argmax")
REDUCTIONS = (*SUMS, *MOMENTS, *ORDERS, *TRUTHS, *PLACES)
MASKED = ("sum", "prod", "nansum", "mean", "var", "std", "min", "max", "any", "all")
EPS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-7, "complex64": 4e-7}


def is_inexact(dtype):
    return dtype.startswith(("float", "bfloat", "complex"))


def expected_dtype(name, dtype):
    if name in TRUTHS + PLACES:
        return "bool" if name in ("any", "all") else "int64"
    if name in SUMS and not is_inexact(dtype):
        return "uint64" if dtype.startswith("u") else "int64"
    if name in MOMENTS and not is_inexact(dtype):
        return "float64"
    if name in ("var", "std") and dtype.startswith("complex"):
        return {"complex64": "float32", "complex128": "float64"}[dtype]
    return dtype


def widened(values):
    """What NumPy computes on exactly enough: double precision, or 64-bit integers."""
    kind = values.dtype.kind
    if kind == "c":
        return values.astype("complex128")
    return values if kind in "biu" else values.astype("float64")


def oracle(name, values, **options):
    """NumPy's result in the dtype that NumPy's rules give it."""
    dtype = "bfloat16" if values.dtype.name == "bfloat16" else values.dtype.name
    if name == "ptp" and is_inexact(dtype):
        least, most = (getattr(np, kind)(widened(values), **options) for kind in ("min", "max"))
        result = most - least
    else:
        result = getattr(np, name)(widened(values), **options)
    return np.asarray(result).astype(sw.dtype(expected_dtype(name, dtype)).dtype)


def assert_close(name, ours, exact, dtype):
    assert ours.shape == exact.shape
    assert ours.dtype == exact.dtype
    if name in ORDERS + TRUTHS + PLACES or not is_inexact(str(ours.dtype)):
        assert_same(ours, exact)
        return
    values, exact = ours.numpy(), exact
    wide = "complex128" if exact.dtype.kind == "c" else "float64"
    tolerance = EPS.get(str(ours.dtype), 1e-13)
    np.testing.assert_allclose(values.astype(wide), exact.astype(wide), rtol=tolerance, atol=1e-12)


def values_for(name, ours, theirs, device):
    """Small numbers where products would overflow."""
    if name not in ("prod", "cumprod"):
        return ours, theirs
    small = (theirs.astype("complex128").real % 3).astype(theirs.dtype)
    return sw.array(small, device=device), small


@st.composite
def axes_of(draw, rank, only_one=False):
    one = st.integers(-rank, rank - 1) if rank else st.nothing()
    if only_one or rank == 0:
        return draw(st.one_of(st.none(), one) if rank else st.none())
    several = st.permutations(range(rank)).flatmap(
        lambda order: st.integers(0, rank).map(lambda n: tuple(order[:n]))
    )
    return draw(st.one_of(st.none(), one, several))


@st.composite
def calls(draw, names=REDUCTIONS):
    window, name = draw(windows()), draw(st.sampled_from(names))
    axis = draw(axes_of(len(window.shape), only_one=name in PLACES))
    dtype = draw(st.sampled_from(COMPUTABLE))
    return window, name, axis, dtype, draw(st.booleans()), draw(st.integers(0, 2**32))


def needs_elements(name, shape, axis):
    if name not in ORDERS + PLACES:
        return False
    axes = range(len(shape)) if axis is None else np.atleast_1d(np.array(axis, int)) % len(shape)
    return int(np.prod([shape[i] for i in axes])) == 0


@given(calls())
def test_reductions_are_numpys(device, call):
    window, name, axis, dtype, keepdims, seed = call
    ours, theirs = values_for(name, *pair(window, dtype, device, seed), device)
    if name == "ptp" and dtype == "bool":
        with pytest.raises(TypeError, match="bool"):
            sw.ptp(ours, axis)
        return
    options = {"axis": axis, "keepdims": keepdims}
    if name == "count_nonzero" and axis is None and not keepdims:
        assert_same(sw.count_nonzero(ours), np.asarray(np.count_nonzero(theirs)))
        return
    try:
        exact = oracle(name, theirs, **options)
    except ValueError:
        assert needs_elements(name, theirs.shape, axis)
        with pytest.raises(ValueError, match="zero-size|empty sequence"):
            getattr(sw, name)(ours, **options)
        return
    assert_close(name, getattr(sw, name)(ours, **options), exact, dtype)
    if hasattr(ours, name):
        assert_close(name, getattr(ours, name)(**options), exact, dtype)


@given(calls(MASKED), st.integers(0, 2**16), st.booleans())
def test_where_and_initial_match_numpy(device, call, mask_seed, has_initial):
    window, name, axis, dtype, keepdims, seed = call
    ours, theirs = values_for(name, *pair(window, dtype, device, seed), device)
    generator = np.random.default_rng(mask_seed)
    mask = generator.random(theirs.shape[mask_seed % (theirs.ndim + 1) :]) < 0.6
    options = {"axis": axis, "keepdims": keepdims}
    if name in ("min", "max") or (has_initial and name in SUMS):
        options["initial"] = 1 if name != "nansum" else 2
    exact = oracle(name, theirs, where=mask, **options)
    result = getattr(sw, name)(ours, where=sw.array(mask, device=device), **options)
    assert_close(name, result, exact, dtype)


@given(
    calls(("sum", "prod", "mean", "var", "min", "max", "any", "all", "argmin", "ptp")),
    st.sampled_from(COMPUTABLE),
)
def test_out_accepts_any_dtype_and_layout(device, call, target):
    window, name, axis, dtype, keepdims, seed = call
    ours, theirs = values_for(name, *pair(window, dtype, device, seed), device)
    if needs_elements(name, theirs.shape, axis) or (name == "ptp" and dtype == "bool"):
        return
    result = getattr(sw, name)(ours, axis=axis, keepdims=keepdims)
    if name == "argmin" and "int" not in target:
        target = "int32"
    wide = poisoned((*result.shape, 2), target, device)
    out = wide[..., 1].transpose()
    out = out.transpose()
    assert getattr(sw, name)(ours, axis=axis, keepdims=keepdims, out=out) is out
    assert_same(out, result.astype(target).numpy())


@given(windows(), st.sampled_from(("cumsum", "cumprod")), st.sampled_from(COMPUTABLE), st.data())
def test_scans_are_numpys(device, window, name, dtype, data):
    axis = data.draw(axes_of(len(window.shape), only_one=True))
    ours, theirs = values_for(name, *pair(window, dtype, device, 5), device)
    exact = getattr(np, name)(widened(theirs), axis=axis)
    exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
    assert_close(name, getattr(sw, name)(ours, axis=axis), exact, dtype)
    out = poisoned((*exact.shape, 2), "float64", device)[..., 0]
    getattr(ours, name)(axis=axis, out=out)
    np.testing.assert_allclose(
        out.numpy(), exact.astype("complex128").real, rtol=EPS.get(str(ours.dtype), 1e-13)
    )


@pytest.mark.parametrize("shape", [(100_003,), (3, 70_001), (70_001, 3), (517, 1031), (40, 50, 61)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex64", "float16", "bool", "int64"])
def test_shapes_divided_into_pieces_match_numpy(device, shape, dtype):
    theirs = numbers(shape, dtype, 3)
    for ours, values in (
        (sw.array(theirs, device=device), theirs),
        (sw.array(theirs, device=device)[::-1].T, theirs[::-1].T),
        (sw.array(theirs, device=device)[..., ::2], theirs[..., ::2]),
    ):
        for axis in (None, *range(len(shape))):
            for name in ("sum", "mean", "var", "min", "argmin", "argmax", "count_nonzero", "all"):
                exact = oracle(name, values, axis=axis, keepdims=True)
                assert_close(name, getattr(sw, name)(ours, axis, keepdims=True), exact, dtype)
            exact = np.cumsum(widened(values), axis=axis)
            exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
            assert_close("cumsum", sw.cumsum(ours, axis), exact, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [5, 5000, 200_000])
def test_nan_is_the_extremum_and_is_skipped_by_nan_functions(device, dtype, size):
    values = numbers((size,), dtype, 9)
    for places in ([], [size // 2], [size - 1, 3]):
        theirs = values.copy()
        theirs[places] = complex(7, np.nan) if dtype.startswith("c") else np.nan
        for layout in (theirs, theirs.reshape(5, -1).T, theirs[::-2]):
            ours = sw.array(theirs, device=device)
            ours = (
                {1: ours, 2: ours.reshape(5, -1).T}[layout.ndim]
                if layout.base is not theirs or layout.ndim == 2
                else ours[::-2]
            )
            for name in ("min", "max", "ptp", "argmin", "argmax", "nansum", "sum"):
                for axis in (None, 0):
                    result = getattr(sw, name)(ours, axis)
                    exact = getattr(np, name)(layout, axis)
                    if name in ("sum", "nansum"):
                        tolerance = EPS.get(dtype, 1e-13)
                        exact = oracle(name, layout, axis=axis)
                        np.testing.assert_allclose(result.numpy(), exact, rtol=tolerance)
                    else:
                        assert_same(result, np.asarray(exact))


def test_float32_sums_are_accurate(device):
    """10^8 ones and noise, by repetition: a naive float32 sum stops at 2^24."""
    generator = np.random.default_rng(0)
    row = (1 + 1e-3 * generator.standard_normal(10_000)).astype("float32")
    many = sw.array(row, device=device).broadcast_to((10_000, 10_000))
    exact = row.astype("float64").sum() * 10_000
    assert abs(float(many.sum()) - exact) <= 1e-6 * exact
    assert abs(float(many.mean(dtype="float64")) - exact / 1e8) <= 1e-9
    columns = many.sum(axis=0, dtype="float64").numpy()
    np.testing.assert_allclose(columns, row.astype("float64") * 10_000, rtol=1e-12)
    halves = sw.array(row.astype("float16"), device=device).broadcast_to((100, 10_000))
    exact = row.astype("float16").astype("float64").mean()
    assert abs(float(halves.mean()) - exact) <= 1e-3


SUM_OF_NOISE = """
import sys
import numpy as np
import spanwise as sw
noise = np.random.default_rng(1).standard_normal((1200, 1100))
results = []
for dtype in ("float64", "float32", "float16"):
    x = sw.array(noise.astype(dtype), device="cpu")
    for axis in (None, 0, 1):
        for name in ("sum", "var", "mean", "cumsum"):
            results.append(getattr(sw, name)(x, axis).numpy().astype("float64").ravel())
print(np.concatenate(results).tobytes().hex().__hash__())
print(sw.config.cpu_threads)
"""


def test_results_do_not_depend_on_the_number_of_threads():
    import os

    answers = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "SPANWISE_CPU_THREADS": threads, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [sys.executable, "-c", SUM_OF_NOISE],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answer, used = done.stdout.split()
        assert used == threads
        answers.add(answer)
    assert len(answers) == 1


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [1, 127, 129, 8191, 8192, 8193, 70_001])
def test_counts_that_fill_narrow_counters(device, dtype, size):
    """All elements count, then some, next to one another and every second, to the last element."""
    ones = np.ones(2 * size - 1, dtype)
    some = (np.random.default_rng(size).random(2 * size - 1) < 0.3).astype(dtype)
    for values in (ones, some):
        a = sw.array(values, device=device)
        for view in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            assert int(sw.count_nonzero(a[view])) == np.count_nonzero(values[view])
            if dtype != "bool":
                assert complex(sw.sum(a[view])) == complex(
                    np.sum(values[view].astype("complex128"))
                )


def test_any_byte_but_0_is_counted_as_true(device):
    values = np.arange(1000, dtype=np.uint8).reshape(10, 100)
    truths = sw.array(values, device=device).view("bool")
    assert int(sw.count_nonzero(truths)) == np.count_nonzero(values)
    np.testing.assert_array_equal(
        sw.count_nonzero(truths, axis=1).numpy(), np.count_nonzero(values, axis=1)
    )


@pytest.mark.parametrize("columns", [1, 3, 15, 16, 17, 33, 250])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_columns_not_a_multiple_of_the_vector_width(device, dtype, columns):
    values = numbers((21, columns + 2), dtype, columns)
    a = sw.array(values, device=device)
    expected = np.sum(values[:, 1:-1].astype("complex128"), axis=0)
    np.testing.assert_allclose(sw.sum(a[:, 1:-1], axis=0).numpy(), expected, rtol=1e-6)


def test_repeated_sums_are_bitwise_equal(device):
    x = sw.array(np.random.default_rng(2).standard_normal(300_000), device=device)
    first = float(x.sum())
    assert all(float(x.sum()) == first for _ in range(5))


def test_invalid_arguments_raise(device):
    x = sw.array(np.ones((2, 3), "float32"), device=device)
    with pytest.raises(IndexError, match="axis 2"):
        x.sum(axis=2)
    with pytest.raises(ValueError, match="axis -3"):
        x.cumsum(axis=-3)
    assert issubclass(sw.AxisError, ValueError) and issubclass(sw.AxisError, IndexError)
    with pytest.raises(ValueError, match="duplicate"):
        x.sum(axis=(0, -2))
    with pytest.raises(TypeError):
        x.sum(axis=1.0)
    with pytest.raises(TypeError, match="one axis"):
        x.argmin(axis=(0, 1))
    with pytest.raises(ValueError, match="identity.*initial"):
        x.min(where=sw.array(np.ones((2, 3), bool), device=device))
    with pytest.raises(TypeError, match="bool"):
        x.sum(where=x)
    with pytest.raises(ValueError, match=r"shape \(3,\), got \(2,\)"):
        x.sum(axis=0, out=sw.zeros(2, device=device))
    with pytest.raises(ValueError, match="broadcast"):
        x.sum(where=sw.array(np.ones((4, 2, 3), bool), device=device))
    with pytest.raises(TypeError, match="indices"):
        x.argmin(out=sw.zeros((), "float32", device=device))
    with pytest.raises(OverflowError):
        x.astype("int8").max(initial=1000)
    with pytest.raises(ValueError, match="empty sequence"):
        sw.zeros((3, 0), device=device).argmax(axis=1)
    with pytest.raises(TypeError, match="dtype"):
        x.var(dtype="int32")
    for name in ("min", "max", "ptp"):
        with pytest.raises(ValueError, match="zero-size"):
            getattr(sw, name)(sw.zeros((0, 3), device=device), axis=0)
        with pytest.raises(ValueError, match="zero-size"):
            getattr(sw, name)(sw.zeros((0, 0), device=device), axis=0)
        assert getattr(sw, name)(sw.zeros((0, 3), device=device), axis=1).shape == (0,)


def test_unusual_arguments_match_numpy(device):
    scalar = sw.array(np.float32(3), device=device)
    assert scalar.sum(axis=0).shape == scalar.sum(axis=-1).shape == ()
    assert scalar.cumsum().shape == (1,)
    with pytest.raises(IndexError):
        scalar.sum(axis=1)
    x = sw.array(np.arange(6.0).reshape(2, 3), device=device)
    assert_same(x.sum(axis=()), x.numpy())
    assert_same(x.sum(dtype="int8"), np.asarray(np.sum(x.numpy(), dtype="int8")))
    assert_same(x.sum(dtype=bool), np.asarray(True))
    assert_same(x.mean(dtype="int64"), np.asarray(2))
    assert_same(sw.var(x, ddof=1), np.asarray(x.numpy().var(ddof=1)))
    assert_same(sw.std(x, axis=0, correction=1), x.numpy().std(axis=0, ddof=1))
    with pytest.raises(ValueError, match="simultaneously"):
        sw.var(x, ddof=1, correction=1)
    mean = x.mean(axis=1, keepdims=True)
    assert_same(x.var(axis=1, mean=mean), x.numpy().var(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(float(sw.zeros(0, device=device).mean()))
    assert sw.sum([[1, 2], [3, 4]], axis=0).tolist() == [4, 6]
    assert sw.amax(np.array([1, 5])).item() == 5
    x = sw.array(np.arange(6.0), device=device)
    x[...] = 0 * x.numpy() + np.arange(6.0)
    sw.cumsum(x, out=x)
    assert x.tolist() == [0, 1, 3, 6, 10, 15]
    y = sw.array(np.arange(9.0).reshape(3, 3), device=device)
    y.sum(axis=0, out=y[0])
    assert y[0].tolist() == [9, 12, 15]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "complex64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmin_and_argmax_give_the_first_of_equal_values(device, name, dtype):
    values = (numbers((3, 70_003), "float64", 5) % 7).astype(dtype)
    ours = sw.array(values, device=device)
    for view in (lambda a: a, lambda a: a[:, 5:], lambda a: a[1], lambda a: a[:, ::-1]):
        oracle_places = getattr(np, name)(view(values), axis=-1)
        np.testing.assert_array_equal(getattr(sw, name)(view(ours), axis=-1).numpy(), oracle_places)
    if np.dtype(dtype).kind == "f":
        values[1, [0, 333, 70_002]] = np.nan
        values[2, 70_002] = np.nan
        places = getattr(sw, name)(sw.array(values, device=device), axis=1)
        np.testing.assert_array_equal(places.numpy(), [getattr(np, name)(values[0]), 0, 70_002])


# More than 1024 chunks of a block on a GPU, and lines of many lengths and layouts.
@pytest.mark.parametrize(
    "shape", [(9_000_001,), (2, 2_100_000), (5000, 600), (600, 5000), (70_000, 33)]
)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_long_scans_match_numpy(device, shape, dtype):
    values = numbers(shape, dtype, 3)
    ours = sw.array(values, device=device)
    for axis in range(len(shape)):
        for view in (lambda a: a, lambda a: a[..., ::-1], lambda a: a[..., 1:]):
            exact = np.cumsum(
                view(values), axis=axis, dtype="float64" if dtype == "float32" else None
            )
            exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
            assert_same(sw.cumsum(view(ours), axis), exact)


# Partial products that are infinite or 0, unlike the running product of the line.
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "numbers_at",
    [
        {0: 0.0, 150_000: 1e300, 150_001: -1e300},
        {5: 1e-300, 150_000: 1e200, 150_001: 1e200},
        {5: 1e300, 150_000: 1e-200, 150_001: 1e-200},
        {5: 1e300, 150_000: 1e300, 150_001: -2.0},
        {5: 1e300, 6: 1e300, 150_000: 1e-300, 150_001: 1e-300},
        {5: 1e-300, 6: 1e-300, 150_000: 1e300, 150_001: 1e300},
        {5: 0.0, 150_000: np.inf},
        {5: 1e300, 6: 1e300, 150_000: 0.0},
    ],
)
def test_cumprod_overflows_and_underflows_as_numpys(device, dtype, numbers_at):
    values = np.ones(200_000, dtype)
    for place, number in numbers_at.items():
        values[place] = number
    for lines in (values, values[:600], values[149_990:].reshape(10, -1)):
        with np.errstate(all="ignore"):
            exact = np.cumprod(lines, axis=-1)
        ours = sw.cumprod(sw.array(lines, device=device), axis=-1).numpy()
        if dtype == "complex128":  # the parts of an infinite number are unspecified
            finite = np.isfinite(exact)
            assert (np.isfinite(ours) == finite).all()
            exact, ours = exact[finite], ours[finite]
        np.testing.assert_allclose(ours, exact, rtol=1e-14)


# More than 32768 chunks of a block.
def test_scan_of_more_than_2_to_the_27_elements_is_right(device):
    if device == "cpu":
        pytest.skip("a line of so many chunks is cut up on GPUs only")
    n = (1 << 27) + 5000
    sums = sw.cumsum(sw.ones(n, "bool", device=device))
    assert (sums == sw.arange(1, n + 1, dtype="int64", device=device)).all()


def test_scans_agree_from_run_to_run(device):
    x = sw.array(np.random.default_rng(2).standard_normal(3_000_000), device=device)
    first = sw.cumsum(x).numpy()
    for _ in range(5):
        np.testing.assert_array_equal(sw.cumsum(x).numpy(), first)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 71, 512, 513, 5000])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_and_argmin_of_bool_rows_give_the_first(name, width, device):
    random = np.random.default_rng(width)
    for share in (0, 0.01, 0.5, 0.99, 1):
        x = random.random((40, width)) < share
        expected = getattr(x, name)(axis=1)
        for values in (x, (x.view("uint8") * 6).view("bool")):  # any byte but 0 is true
            ours = sw.asarray(values, device=device)
            np.testing.assert_array_equal(getattr(ours, name)(axis=1).numpy(), expected)
            backwards = getattr(x[:, ::-1], name)(axis=1)
            np.testing.assert_array_equal(getattr(ours[:, ::-1], name)(axis=1).numpy(), backwards)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_masked_sums_lose_no_more_than_others(device, dtype):
    """Of equal terms all are rounded to the same side, so a chain of them shows its length."""
    term, count = np.dtype(dtype).type(0.1), 100_000
    mask = np.arange(count) % 7 != 0
    x = sw.full(count, term, dtype="float64", device=device).astype(dtype)
    total = float(x.sum(where=sw.array(mask, device=device)))
    exact = float(term) * int(mask.sum())
    assert abs(total - exact) <= exact * (6e-8 if dtype == "float32" else 2e-14)
