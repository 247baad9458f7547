# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands that are contiguous along another axis than the result, large enough for tiles."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import spanwise as sw

DTYPES = ["uint8", "int16", "float16", "float32", "float64", "complex64", "complex128"]
SHAPES = st.sampled_from(
    [
        (32, 32),
        (33, 40),
        (40, 300),
        (16, 70),
        (3, 70, 65),
        (2, 2, 64, 33),
        # Of few rows, and too large for a cache.
        (2, 3, 45_000),
        (2, 45_000, 6),
    ]
)


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).integers(0, 50, shape).astype(dtype)


@st.composite
def operands(draw, count):
    """(shape, and for each operand its values, whether its memory is transposed, and its reversed axes:
    "s" is the last but one, "t" the last)."""
    shape = draw(SHAPES)
    values = [numbers(shape, draw(st.sampled_from(DTYPES)), k) for k in range(count)]
    return shape, [
        (v, draw(st.booleans()), draw(st.sampled_from(["", "s", "t", "st"]))) for v in values
    ]


def placed(value, is_transposed, reversed_axes, device):
    """A view equal to `value`; in its memory the last two axes are exchanged and reversed as requested."""
    keys = tuple(slice(None, None, -1 if axis in reversed_axes else 1) for axis in ("s", "t"))
    memory = value[(..., *keys)]
    if is_transposed:
        memory = memory.swapaxes(-1, -2)
    array = sw.array(np.ascontiguousarray(memory), device=device)
    if is_transposed:
        array = array.swapaxes(-1, -2)
    return array[(..., *keys)]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(drawn=operands(3), dtype=st.sampled_from(DTYPES))
def test_sums_of_any_layout_match_numpy(drawn, dtype, device):
    shape, values = drawn
    x, y = values[0][0], values[1][0]
    a, b = (placed(*each, device) for each in values[:2])
    np.testing.assert_array_equal(sw.add(a, b).numpy(), x + y)
    out = placed(np.full(shape, 91, dtype), *values[2][1:], device)
    sw.add(a, b, out=out, casting="unsafe")
    np.testing.assert_array_equal(out.numpy(), (x + y).astype(dtype))


@given(drawn=operands(2))
def test_masked_negation_of_any_layout_matches_numpy(drawn, device):
    shape, (x, mask) = drawn
    where = (mask[0] > 20) if mask[0].dtype.kind != "c" else (mask[0].real > 20)
    out = placed(np.full(shape, 91, x[0].dtype), *mask[1:], device)
    sw.negative(placed(*x, device), out=out, where=placed(where, *mask[1:], device))
    np.testing.assert_array_equal(out.numpy(), np.where(where, -x[0], 91).astype(x[0].dtype))


@given(drawn=operands(4))
def test_fused_operations_of_any_layout_match_numpy(drawn, device):
    shape, values = drawn
    inputs = [sw.TensorType(v[0].dtype.name, (False,) * len(shape))() for v in values]

    def compute(a, b, c, d):
        s = a + b
        return [s - c, (s + d) + c]

    function = sw.function(inputs, compute(*inputs), device=device)
    results = function(*(placed(*each, device) for each in values))
    for result, expected in zip(results, compute(*(v[0] for v in values)), strict=True):
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("order", ["in", "out"])
def test_large_transposed_operands_match_numpy(order, device):
    x, y = numbers((700, 900), "float32", 1), numbers((900, 700), "float32", 2)
    out = sw.zeros((900, 700), dtype="float32", device=device)
    if order == "out":
        out = sw.zeros((700, 900), dtype="float32", device=device).T
    sw.subtract(sw.array(x, device=device).T, sw.array(y, device=device), out=out)
    np.testing.assert_array_equal(out.numpy(), x.T - y)
