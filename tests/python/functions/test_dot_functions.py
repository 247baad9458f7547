# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""dot, inner, outer, vdot, tensordot, vecdot, matvec and vecmat against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, poisoned
from support.products import EPS, compare, laid_out, layouts, random_values, widened

import spanwise as sw


@given(st.sampled_from(COMPUTABLE), st.sampled_from(["vecdot", "matvec", "vecmat"]), layouts(), layouts(),
       st.integers(0, 99))  # fmt: skip
def test_vecdot_matvec_and_vecmat_match_numpy(device, dtype, name, left_layout, right_layout, seed):
    shapes = {
        "vecdot": [((3, 5), (5,)), ((2, 1, 40), (3, 40)), ((0,), (0,)), ((2, 0, 4), (4,))],
        "matvec": [((3, 4, 5), (5,)), ((4, 5), (2, 5)), ((4, 0), (0,))],
        "vecmat": [((5,), (3, 5, 4)), ((2, 5), (5, 4)), ((2, 3, 5), (5, 1))],
    }[name]
    for left, right in shapes:
        a, x = laid_out(random_values(left, dtype, seed), left_layout, device)
        b, y = laid_out(random_values(right, dtype, seed + 1), right_layout, device)
        theirs = getattr(np, name, None) or pytest.skip(f"this NumPy has no {name}")
        magnitudes = theirs(abs(widened(x)), abs(widened(y))) if dtype in EPS else None
        compare(getattr(sw, name)(a, b), theirs(widened(x), widened(y)), magnitudes, dtype)
        out = sw.full(np.shape(theirs(x, y)), 1, dtype=dtype, device=device)
        getattr(sw, name)(a, b, out)
        compare(out, theirs(widened(x), widened(y)), magnitudes, dtype)


@given(st.sampled_from(COMPUTABLE), st.sampled_from(["ij,ij->j", "ij,ij->i", "ij,kij->kj", "jik,ji->k"]),
       layouts(), layouts(), st.integers(1, 40), st.sampled_from([1, 7, 255, 600]), st.integers(0, 99))  # fmt: skip
def test_sums_beside_one_another_match_numpy(
    device, dtype, subscripts, left_layout, right_layout, sums, depth, seed
):
    """Sums of products along an axis that is not the last one, in vectors, with a rest, and of a depth in
    several parts."""
    extents = {"i": depth, "j": sums, "k": 3}
    left, right = (
        tuple(extents[label] for label in labels) for labels in subscripts.split("->")[0].split(",")
    )
    a, x = laid_out(random_values(left, dtype, seed), left_layout, device)
    b, y = laid_out(random_values(right, dtype, seed + 1), right_layout, device)
    magnitudes = np.einsum(subscripts, abs(widened(x)), abs(widened(y))) if dtype in EPS else None
    compare(
        sw.einsum(subscripts, a, b),
        np.einsum(subscripts, widened(x), widened(y)),
        magnitudes,
        dtype,
    )


SHAPES_OF_DOT = [((), (3,)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
                 ((2, 3, 4), (5, 4, 2)), ((4,), (2, 4, 3)), ((2, 0), (0, 3))]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES_OF_DOT)
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "bool"])
def test_dot_matches_numpy(device, shapes, dtype):
    x, y = (random_values(shape, dtype, seed) for seed, shape in enumerate(shapes))
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    oracle = np.dot(widened(x), widened(y))
    magnitudes = 9 + 9 * np.dot(abs(x), abs(y)) if dtype in EPS else None
    compare(sw.dot(a, b), oracle, magnitudes, dtype)
    compare(a.dot(b), oracle, magnitudes, dtype)
    out = poisoned(np.shape(oracle), dtype, device)
    assert a.dot(b, out=out) is out
    compare(out, oracle, magnitudes, dtype)


def test_invalid_dot_calls_raise_as_in_numpy(device):
    a = sw.ones((2, 3), dtype="float32", device=device)
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 3\) not aligned: 3 \(dim 1\) != 2"):
        sw.dot(a, a)
    with pytest.raises(ValueError, match="not acceptable"):
        sw.dot(a, a.T, out=sw.ones((2, 2), dtype="float64", device=device))
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        sw.dot(a, a.T, out=sw.ones((2, 3), dtype="float32", device=device))
    assert sw.dot(a, 3.0).dtype == np.dot(np.ones((2, 3), "float32"), 3.0).dtype


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex64"])
def test_inner_outer_and_vdot_match_numpy(device, dtype):
    x, y = random_values((3, 4), dtype, 1), random_values((2, 4), dtype, 2)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    magnitude = 100 if dtype in EPS else None
    compare(sw.inner(a, b), np.inner(widened(x), widened(y)), magnitude, dtype)
    compare(sw.outer(a, b), np.outer(widened(x), widened(y)), magnitude, dtype)
    out = poisoned((12, 8), dtype, device)
    assert sw.outer(a, b, out=out) is out
    compare(out, np.outer(widened(x), widened(y)), magnitude, dtype)
    compare(sw.vdot(a, a.T.copy()), np.vdot(widened(x), widened(x.T)), magnitude, dtype)
    with pytest.raises(ValueError, match="vdot"):
        sw.vdot(a, b)
    with pytest.raises(ValueError, match="not aligned"):
        sw.inner(a, b[:, :3])


@pytest.mark.parametrize(
    "axes", [0, 1, 2, ([1], [0]), ((0, 2), (1, 0)), (2, 0), ([-1, 0], [0, -2])]
)
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "float16"])
def test_tensordot_matches_numpy(device, axes, dtype):
    x = random_values((3, 4, 5), dtype, 1)
    right_shape = {1: (5, 2), 2: (4, 5, 2)}.get(axes if isinstance(axes, int) else -1, (5, 3, 4))
    if axes == ([1], [0]):
        right_shape = (4, 2)
    y = random_values(right_shape, dtype, 2)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    wide = np.tensordot(widened(x), widened(y), axes)
    magnitudes = np.tensordot(abs(widened(x)), abs(widened(y)), axes) if dtype in EPS else None
    compare(sw.tensordot(a, b, axes), wide, magnitudes, dtype)
    backwards = sw.tensordot(a[::-1], b, axes) if axes == 1 else None
    if backwards is not None:
        compare(backwards, wide[::-1], magnitudes[::-1] if magnitudes is not None else None, dtype)


def test_tensordot_rejects_mismatched_axes(device):
    a = sw.ones((2, 3), device=device)
    with pytest.raises(ValueError, match="shape-mismatch"):
        sw.tensordot(a, a, axes=1)
    with pytest.raises(IndexError, match="axes=5"):
        sw.tensordot(a, a, axes=5)
