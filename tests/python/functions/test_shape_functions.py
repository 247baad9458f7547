# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that reshape, join and split arrays, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.errors import InvalidArgument
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows
from support.shape_functions import SEEDS, axis, on

import spanwise as sw

DTYPES = st.sampled_from(COMPUTABLE)

NUMPY_DTYPES = [dtype for dtype in COMPUTABLE if dtype != "bfloat16"]


def assert_same_lists(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, np.asarray(b))


VIEWS = {
    "transpose": lambda f, a, draw: f.transpose(a, draw(st.permutations(range(a.ndim)))),
    "permute_dims": lambda f, a, draw: f.permute_dims(a, draw(st.permutations(range(a.ndim)))),
    "matrix_transpose": lambda f, a, draw: f.matrix_transpose(a),
    "swapaxes": lambda f, a, draw: f.swapaxes(a, draw(axis(a)), draw(axis(a))),
    "moveaxis": lambda f, a, draw: f.moveaxis(a, draw(axis(a)), draw(axis(a))),
    "rollaxis": lambda f, a, draw: f.rollaxis(a, draw(axis(a)), draw(st.integers(-a.ndim, a.ndim))),
    "expand_dims": lambda f, a, draw: f.expand_dims(a, (draw(st.integers(-a.ndim - 2, 0)), 1)),
    "flip": lambda f, a, draw: f.flip(a, draw(st.none() | axis(a))),
    "fliplr": lambda f, a, draw: f.fliplr(a),
    "flipud": lambda f, a, draw: f.flipud(a),
    "rot90": lambda f, a, draw: f.rot90(a, draw(st.integers(-5, 5)), (draw(axis(a)), 0)),
    "squeeze": lambda f, a, draw: f.squeeze(a),
    "atleast_1d": lambda f, a, draw: f.atleast_1d(a),
    "atleast_2d": lambda f, a, draw: f.atleast_2d(a),
    "atleast_3d": lambda f, a, draw: f.atleast_3d(a),
    "ravel": lambda f, a, draw: f.ravel(a),
}

COPIES = {
    "roll": lambda f, a, draw: f.roll(a, draw(st.integers(-9, 9)), draw(st.none() | axis(a))),
    "roll, axes": lambda f, a, draw: f.roll(a, (draw(st.integers(-9, 9)), 2), (0, draw(axis(a)))),
    "tile": lambda f, a, draw: f.tile(a, draw(st.lists(st.integers(0, 3), max_size=4))),
    "resize": lambda f, a, draw: f.resize(a, draw(st.lists(st.integers(0, 4), max_size=3))),
}


class Recorded:
    """The same draws for NumPy's call and for ours: repeats them once `next` is set to 0."""

    def __init__(self, data):
        self.data, self.drawn, self.next = data, [], None

    def __call__(self, strategy):
        if self.next is None:
            self.drawn.append(self.data.draw(strategy))
            return self.drawn[-1]
        self.next += 1
        return self.drawn[self.next - 1]


@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
@given(data=st.data(), window=windows(), seed=SEEDS, dtype=DTYPES)
def test_function_of_one_array_matches_numpy(device, name, data, window, seed, dtype):
    ours, oracle = pair(window, dtype, device, seed)
    call, draw = (VIEWS | COPIES)[name], Recorded(data)
    try:
        expected = call(np, oracle, draw)
    except InvalidArgument:
        return  # no axis to draw
    except (ValueError, IndexError):
        draw.next = 0
        with pytest.raises((ValueError, IndexError)):
            call(sw, ours, draw)
        return
    draw.next = 0
    result = call(sw, ours, draw)
    assert_same(result, np.asarray(expected))
    if name in VIEWS and name != "ravel":
        assert sw.may_share_memory(result, ours) == np.may_share_memory(expected, oracle)


@given(
    data=st.data(),
    dtypes=st.lists(st.sampled_from(NUMPY_DTYPES), min_size=1, max_size=3),
    seed=SEEDS,
)
def test_concatenate_and_stack_match_numpy(device, data, dtypes, seed):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    along = data.draw(st.integers(-len(shape), len(shape) - 1))
    ours, theirs = [], []
    for i, dtype in enumerate(dtypes):
        extents = list(shape)
        extents[along] = data.draw(st.integers(0, 4))
        values = numbers(tuple(extents[::-1]), dtype, seed + i).T  # Fortran order
        theirs.append(values)
        ours.append(on(device, values) if data.draw(st.booleans()) else on(device, values[:])[...])
    expected = np.concatenate(theirs, along)
    assert_same(sw.concatenate(ours, along), expected)
    assert_same(sw.concatenate(ours, None), np.concatenate(theirs, None))
    assert_same(
        sw.concatenate(ours, along, dtype="complex128"),
        np.concatenate(theirs, along, dtype="complex128"),
    )
    out = on(device, np.full(expected.shape, 9, expected.dtype))
    assert sw.concatenate(ours, along, out) is out
    assert_same(out, expected)
    same = [numbers(tuple(shape), dtype, seed) for dtype in dtypes]
    for new_axis in range(-len(shape) - 1, len(shape) + 1):
        assert_same(sw.stack([on(device, x) for x in same], new_axis), np.stack(same, new_axis))


def test_concatenate_accepts_lists_and_overlapping_out(device):
    assert_same(sw.concatenate(([1, 2], on(device, [3.5]))), np.array([1, 2, 3.5]))
    values = np.arange(6)
    base = on(device, values)
    sw.concatenate((base[3:], base[:3]), out=base)
    assert base.tolist() == [3, 4, 5, 0, 1, 2]


@pytest.mark.parametrize("name", ["vstack", "hstack", "dstack", "column_stack"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
def test_stack_functions_match_numpy(device, name, shape):
    arrays = [numbers(shape, dtype, 1) for dtype in ("int32", "float32")]
    if name == "column_stack" and shape == ():
        arrays = arrays[:1]
    expected = getattr(np, name)(arrays)
    assert_same(getattr(sw, name)([on(device, a) for a in arrays]), expected)


@given(data=st.data(), window=windows(min_rank=1), seed=SEEDS)
def test_split_functions_match_numpy(device, data, window, seed):
    ours, oracle = pair(window, "int16", device, seed)
    along = data.draw(axis(oracle))
    cuts = data.draw(st.integers(1, 5) | st.lists(st.integers(-4, 6), max_size=3))
    assert_same_lists(sw.array_split(ours, cuts, along), np.array_split(oracle, cuts, along))
    assert_same_lists(sw.unstack(ours, axis=along), np.moveaxis(oracle, along, 0))
    for name, rank, split_axis in (
        ("split", 1, 0),
        ("vsplit", 2, 0),
        ("dsplit", 3, 2),
        ("hsplit", 2, 1),
    ):
        if oracle.ndim < rank:
            continue
        if isinstance(cuts, int) and oracle.shape[split_axis] % cuts:
            with pytest.raises(ValueError, match=f"^{name}: .*equal division"):
                getattr(sw, name)(ours, cuts)
        else:
            assert_same_lists(getattr(sw, name)(ours, cuts), getattr(np, name)(oracle, cuts))


@pytest.mark.parametrize("cuts", [2, [1]])
def test_split_names_itself_in_the_error_of_an_axis(cuts):
    with pytest.raises(sw.AxisError, match="^split: axis 3"):
        sw.split(sw.zeros((2, 2)), cuts, 3)


def test_broadcast_functions_match_numpy(device):
    shapes = [(3, 1), (4,), (), (2, 1, 4)]
    assert sw.broadcast_shapes(*shapes, 4) == np.broadcast_shapes(*shapes, 4)
    arrays = [numbers(shape, "int32", 1) for shape in shapes]
    assert_same_lists(
        sw.broadcast_arrays(*(on(device, a) for a in arrays)), np.broadcast_arrays(*arrays)
    )
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        sw.broadcast_shapes((2,), (3,))


@pytest.mark.parametrize("n", [1 << 16, 300_001])
def test_large_arrays_match_numpy(device, n):
    values = numbers((n,), "float32", 1)
    ours = on(device, values)
    assert_same(sw.roll(ours, 77), np.roll(values, 77))
    assert_same(sw.tile(ours[:1001], (3, 50)), np.tile(values[:1001], (3, 50)))
    assert_same(sw.concatenate((ours, ours[::-1])), np.concatenate((values, values[::-1])))
    assert_same(sw.stack((ours, ours), -1), np.stack((values, values), -1))


WRONG = {
    "moveaxis": (
        lambda a: sw.moveaxis(a, 2, 0),
        ValueError,
        "axis 2 is out of bounds .* dimension 2",
    ),
    "moveaxis, twice": (lambda a: sw.moveaxis(a, (0, 0), (0, 1)), ValueError, "repeated axis"),
    "moveaxis, lengths": (lambda a: sw.moveaxis(a, (0, 1), 0), ValueError, "same number"),
    "flip": (lambda a: sw.flip(a, 5), ValueError, "axis 5"),
    "fliplr": (lambda a: sw.fliplr(a[0]), ValueError, r">= 2-d, got shape \(4,\)"),
    "rot90": (lambda a: sw.rot90(a, 1, (0, 1, 1)), ValueError, "must be 2"),
    "matrix_transpose": (lambda a: sw.matrix_transpose(a[0]), ValueError, "2-dimensional"),
    "roll": (lambda a: sw.roll(a, 1, 2), ValueError, "axis 2"),
    "tile": (lambda a: sw.tile(a, -1), ValueError, "negative"),
    "resize": (lambda a: sw.resize(a, -1), ValueError, "non-negative"),
    "concatenate, nothing": (lambda a: sw.concatenate([]), ValueError, "at least one array"),
    "concatenate, scalar": (lambda a: sw.concatenate(3), TypeError, "got a int"),
    "concatenate, rank 0": (lambda a: sw.concatenate([a[0, 0]]), ValueError, "zero-dimensional"),
    "concatenate, ranks": (lambda a: sw.concatenate([a, a[0]]), ValueError, r"\(3, 4\) and \(4,\)"),
    "concatenate, shapes": (lambda a: sw.concatenate([a, a.T]), ValueError, "index 1 has size 3"),
    "concatenate, axis": (lambda a: sw.concatenate([a], 2), ValueError, "2"),
    "concatenate, out": (
        lambda a: sw.concatenate([a], out=a[1:]),
        ValueError,
        r"expected \(3, 4\)",
    ),
    "concatenate, cast": (lambda a: sw.concatenate([a], dtype="int8"), TypeError, "int8"),
    "concatenate, both": (lambda a: sw.concatenate([a], out=a, dtype="f4"), TypeError, "both"),
    "stack, shapes": (lambda a: sw.stack([a, a[1:]]), ValueError, r"\(3, 4\) and \(2, 4\)"),
    "stack, axis": (lambda a: sw.stack([a], 4), ValueError, "axis 4"),
    "vstack, no sequence": (lambda a: sw.vstack(3), TypeError, "sequence"),
    "split": (lambda a: sw.split(a, 2), ValueError, r"2 parts; use array_split"),
    "array_split, axis": (lambda a: sw.array_split(a, 2, 2), IndexError, "axis 2 is out of bounds"),
    "moveaxis, axis": (lambda a: sw.moveaxis(a, 0, -3), sw.AxisError, "axis -3 is out of bounds"),
    "array_split": (lambda a: sw.array_split(a, 0), ValueError, "larger than 0"),
    "vsplit": (lambda a: sw.vsplit(a[0], 2), ValueError, "2 or more"),
    "unstack": (lambda a: sw.unstack(a[0, 0]), ValueError, "at least 1-d"),
    "pad, mode": (lambda a: sw.pad(a, 1, "odd"), ValueError, "'odd'"),
    "pad, length": (
        lambda a: sw.pad(a, 1, "mean", stat_length=0),
        ValueError,
        "stat_length of 0 yields no value",
    ),
    "pad, word": (lambda a: sw.pad(a, 1, "edge", end_values=1), ValueError, "end_values"),
    "pad, negative": (lambda a: sw.pad(a, -1), ValueError, "negative"),
    "pad, widths": (lambda a: sw.pad(a, (1, 2, 3)), ValueError, "broadcast"),
    "pad, empty": (lambda a: sw.pad(a[:0], 1, "edge"), ValueError, "empty axis 0"),
    "insert": (lambda a: sw.insert(a, 4, 0, 0), IndexError, "index 4 is out of bounds"),
    "insert, rank": (lambda a: sw.insert(a, [[1]], 0, 0), ValueError, "one dimensional"),
    "delete": (lambda a: sw.delete(a, 3, 0), IndexError, "index 3"),
    "delete, floats": (lambda a: sw.delete(a, 0.5, 0), IndexError, "float64"),
    "delete, mask": (lambda a: sw.delete(a, [True], 0), ValueError, "axis length of 3"),
    "expand_dims": (lambda a: sw.expand_dims(a, 3), ValueError, "axis 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_calls_raise_with_a_reason(device, name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call(on(device, numbers((3, 4), "float32", 1)))
