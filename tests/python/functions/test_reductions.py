# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy in double precision: any layout, axes, dtype and device."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, poisoned, windows
from support.reductions import (
    ARG_EXTREMES,
    EXTREMES,
    LOGICAL,
    MOMENTS,
    SUMS,
    assert_close,
    axes_of,
    expected_dtype,
    oracle,
    values_for,
    widened,
)

import spanwise as sw

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

REDUCTIONS = (*SUMS, *MOMENTS, *EXTREMES, *LOGICAL, *ARG_EXTREMES)

MASKED = ("sum", "prod", "nansum", "mean", "var", "std", "min", "max", "any", "all")


@st.composite
def calls(draw, names=REDUCTIONS):
    """(window, name of the reduction, axis, dtype, keepdims, seed)."""
    window, name = draw(windows()), draw(st.sampled_from(names))
    axis = draw(axes_of(len(window.shape), only_one=name in ARG_EXTREMES))
    dtype = draw(st.sampled_from(COMPUTABLE))
    return window, name, axis, dtype, draw(st.booleans()), draw(st.integers(0, 2**32))


def needs_elements(name, shape, axis):
    """Whether the reduction has no identity and no element to reduce, so that it raises."""
    if name not in EXTREMES + ARG_EXTREMES:
        return False
    axes = range(len(shape)) if axis is None else np.atleast_1d(np.array(axis, int)) % len(shape)
    return int(np.prod([shape[i] for i in axes])) == 0


@given(calls())
def test_reductions_match_numpy(device, call):
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
    assert_close(name, getattr(sw, name)(ours, **options), exact)
    if hasattr(ours, name):
        assert_close(name, getattr(ours, name)(**options), exact)


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
    assert_close(name, result, exact)


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
    out = wide[..., 1]
    assert getattr(sw, name)(ours, axis=axis, keepdims=keepdims, out=out) is out
    assert_same(out, result.astype(target).numpy())


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
                assert_close(name, getattr(sw, name)(ours, axis, keepdims=True), exact)
            exact = np.cumsum(widened(values), axis=axis)
            exact = exact.astype(sw.dtype(expected_dtype("sum", dtype)).dtype)
            assert_close("cumsum", sw.cumsum(ours, axis), exact)


@pytest.mark.parametrize("columns", [1, 3, 15, 16, 17, 33, 250])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_columns_not_a_multiple_of_the_vector_width(device, dtype, columns):
    values = numbers((21, columns + 2), dtype, columns)
    a = sw.array(values, device=device)
    expected = np.sum(values[:, 1:-1].astype("complex128"), axis=0)
    np.testing.assert_allclose(sw.sum(a[:, 1:-1], axis=0).numpy(), expected, rtol=1e-6)


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
    sw.cumsum(x, out=x)
    assert x.tolist() == [0, 1, 3, 6, 10, 15]
    y = sw.array(np.arange(9.0).reshape(3, 3), device=device)
    y.sum(axis=0, out=y[0])
    assert y[0].tolist() == [9, 12, 15]


@pytest.mark.parametrize("shape", [(2**61,), (2**40, 2**20), (3, 2**59), (2**20, 2**20, 2**20)])
@pytest.mark.parametrize("name", ["sum", "max", "argmin", "var", "any"])
def test_extents_whose_multiples_exceed_63_bits(name, shape):
    """Elements of a broadcast array need no memory, the partial results of its pieces do."""
    x = sw.broadcast_to(sw.ones(1, device="cpu"), shape)
    with pytest.raises(MemoryError):
        getattr(sw, name)(x)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "float16", "int32", "float32", "float64", "complex128"]
)
@pytest.mark.parametrize("length", [2, 3, 9, 24, 25])
def test_many_short_rows_match_numpy(device, dtype, length):
    """Rows that are adjacent in memory, or far apart with their elements adjacent or not."""
    values = numbers((700, length), dtype, 11)
    if dtype.startswith("float"):
        values[5, length // 2] = np.nan
        values[9, 0] = np.inf
    wide = np.repeat(values, 3, 1)
    for view in (
        lambda a, _: a,
        lambda a, _: a[::-1, ::-1],
        lambda _, b: b[:, ::3],
        lambda a, _: a[:, None],
    ):
        array = view(values, wide)
        ours = view(sw.array(values, device=device), sw.array(wide, device=device))
        for name in (*SUMS, "var", *EXTREMES, *LOGICAL, *ARG_EXTREMES):
            if name == "ptp" and dtype == "bool":
                continue
            exact = getattr(np, name)(widened(array), axis=-1)
            if name in ARG_EXTREMES:
                assert_same(getattr(sw, name)(ours, axis=-1), exact)
            else:
                result = getattr(sw, name)(ours, axis=-1)
                assert_close(name, result, exact.astype(sw.dtype(result.dtype).dtype))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64", "complex64"])
@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_reductions_of_many_permuted_outputs_match_numpy(device, dtype, order):
    """A tile of outputs along one axis would have few elements; a reduced axis is short or of extent 1."""
    for shape, axes in (
        ((128, 3, 70), (0, 1, 2)),
        ((90, 1, 80), (1,)),
        ((300, 2, 3), ((0, 2), None)),
    ):
        values = numbers(shape, dtype, 12)
        array = values.transpose(order)
        ours = sw.array(values, device=device).transpose(order)
        for axis in axes:
            for name in ("sum", "max", "any", "mean", "var"):
                if name == "max" and dtype == "complex64":
                    continue
                exact = getattr(np, name)(widened(array), axis=axis)
                result = getattr(sw, name)(ours, axis=axis)
                assert_close(name, result, exact.astype(sw.dtype(result.dtype).dtype))
            if dtype != "complex64" and not isinstance(axis, tuple):
                assert_same(sw.argmax(ours, axis), np.argmax(array, axis))
