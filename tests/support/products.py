# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Factors of products in any layout, and the comparison with NumPy in higher precision."""

import numpy as np
from hypothesis import strategies as st

import spanwise as sw

# The permitted error of one result, relative to the sum of the absolute values of its terms.
EPS = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 2e-6,
    "float64": 1e-14,
    "complex64": 4e-6,
    "complex128": 2e-14,
}


def widened(values):
    """Integers unchanged, as they wrap around in NumPy as well; others in double precision."""
    if values.dtype.kind in "biu":
        return values
    return values.astype("complex128" if values.dtype.kind == "c" else "float64")


def compare(ours, oracle, magnitudes, dtype):
    """`oracle`: the expected result in higher precision; `magnitudes`: the product of absolute values."""
    oracle = np.asarray(oracle)
    assert isinstance(ours, sw.Array)
    assert ours.shape == oracle.shape
    assert ours.dtype == dtype
    values = ours.numpy()
    if dtype not in EPS:
        np.testing.assert_array_equal(values, oracle.astype(dtype))
        return
    wide = widened(values)
    bound = EPS[dtype] * np.asarray(magnitudes) + 1e-30
    assert np.all(np.abs(wide - oracle) <= bound), np.max(np.abs(wide - oracle) / bound)


def laid_out(values, layout, device):
    """Views with the layout (order of axes, steps) that have the values: Spanwise's and NumPy's."""
    order, steps = layout
    axes = [axis for axis in order if axis < values.ndim]
    stored = values.transpose(axes)
    inverse = np.argsort(axes)
    padded = np.zeros(
        [n * abs(s) + 1 for n, s in zip(stored.shape, steps, strict=False)], values.dtype
    )
    key = tuple(
        slice(1, None, s) if s > 0 else slice(None, None, s)
        for s, _ in zip(steps, stored.shape, strict=False)
    )
    window = padded[key]
    trim = tuple(slice(0, n) for n in stored.shape)
    window[trim][...] = stored
    ours = sw.array(padded, device=device)[key][trim].transpose(inverse)
    return ours, window[trim].transpose(inverse)


@st.composite
def layouts(draw):
    order = draw(st.permutations(range(4)))
    steps = draw(st.lists(st.sampled_from([1, 1, 2, -1, -2]), min_size=4, max_size=4))
    return tuple(order), tuple(steps)


def random_values(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    name = sw.dtype(dtype).dtype
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype not in EPS:
        info = np.iinfo(name)
        return rng.integers(info.min, info.max, shape, name, endpoint=True)
    values = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(name)
