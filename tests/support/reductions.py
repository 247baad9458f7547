# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions in NumPy with double precision, and the comparison with them."""

import numpy as np
from hypothesis import strategies as st
from support.arrays import assert_same

import spanwise as sw

SUMS = ("sum", "prod", "nansum")

MOMENTS = ("mean", "var", "std")

EXTREMES = ("min", "max", "ptp")

LOGICAL = ("any", "all", "count_nonzero")

ARG_EXTREMES = ("argmin", "argmax")


def relative_tolerance(dtype):
    """The relative tolerance for results of a dtype, given by its name: a few units in the last place
    of dtypes below double precision, since Spanwise accumulates these in double precision."""
    known = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-7, "complex64": 4e-7}
    return known.get(dtype, 1e-13)


def is_inexact(dtype):
    return dtype.startswith(("float", "bfloat", "complex"))


def expected_dtype(name, dtype):
    """The dtype that NumPy's rules give the reduction `name` of an array of `dtype`; dtypes by name."""
    if name in LOGICAL + ARG_EXTREMES:
        return "bool" if name in ("any", "all") else "int64"
    if name in SUMS and not is_inexact(dtype):
        return "uint64" if dtype.startswith("u") else "int64"
    if name in MOMENTS and not is_inexact(dtype):
        return "float64"
    if name in ("var", "std") and dtype.startswith("complex"):
        return {"complex64": "float32", "complex128": "float64"}[dtype]
    return dtype


def widened(values):
    """The values in a dtype in which NumPy computes the reference: double precision; integers and bools
    unchanged."""
    kind = values.dtype.kind
    if kind == "c":
        return values.astype("complex128")
    return values if kind in "biu" else values.astype("float64")


def oracle(name, values, **options):
    """NumPy's reduction of widened(values), cast to expected_dtype()."""
    result = getattr(np, name)(widened(values), **options)
    return np.asarray(result).astype(sw.dtype(expected_dtype(name, values.dtype.name)).dtype)


def assert_close(name, ours, exact):
    """Compares results of the function `name`: sums, products and moments that are floating-point or
    complex numbers with a tolerance, others exactly."""
    assert ours.shape == exact.shape
    assert ours.dtype == exact.dtype
    if name in EXTREMES + LOGICAL + ARG_EXTREMES or not is_inexact(str(ours.dtype)):
        assert_same(ours, exact)
        return
    wide = "complex128" if exact.dtype.kind == "c" else "float64"
    tolerance = relative_tolerance(str(ours.dtype))
    np.testing.assert_allclose(
        ours.numpy().astype(wide), exact.astype(wide), rtol=tolerance, atol=1e-12
    )


def values_for(name, ours, theirs, device):
    """The operands of the function `name`: `ours` and `theirs`, equal arrays of Spanwise and NumPy, or
    for products, which would overflow, new arrays of small numbers."""
    if name not in ("prod", "cumprod"):
        return ours, theirs
    small = (theirs.astype("complex128").real % 3).astype(theirs.dtype)
    return sw.array(small, device=device), small


@st.composite
def axes_of(draw, rank, only_one=False):
    """An axis= of a reduction: None, an axis or, without `only_one`, a tuple of axes."""
    axis = st.integers(-rank, rank - 1) if rank else st.nothing()
    if only_one or rank == 0:
        return draw(st.one_of(st.none(), axis) if rank else st.none())
    axes = st.permutations(range(rank)).flatmap(
        lambda order: st.integers(0, rank).map(lambda n: tuple(order[:n]))
    )
    return draw(st.one_of(st.none(), axis, axes))
