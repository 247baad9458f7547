# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum against NumPy's, in higher precision."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import spanwise as sw

EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 5, "m": 1, "Z": 2}
SUBSCRIPTS = [
    "ij,jk", "ij,jk->ik", "ij,jk->ki", "ji,jk->ik", "ij,kj->ik", "bij,bjk->bik", "ij->ji", "ij->",
    "ij->j", "ii", "ii->i", "iij->ij", "iji->j", "iii->i", "i,i", "i,i->i", "i,j->ij", "i,j->ji",
    "ij,ij", "ij,ij->i", "ij,ij->ij", "ij,i->ij", "...ij,...jk->...ik", "...ij,...jk", "i...->...",
    "...i->i...", "ij...,jk...->ik...", "ijk,kl,li->j", "ij,jk,kl->il", "i,j,k->kji", "ijk,jil->kl",
    "ij,jk,kl,lm->im", "ii,jj->ij", ",ij->ij", "i,,i", "aab,bcc->ac", "ijkl,jl->ik", "iZ,Zj->ij",
    "ij,mj->im", "abcd,cdef->abef", "bhqd,bhkd->bhqk", "i,i,i->i", "ij,k->ij",
]  # fmt: skip
DTYPES = ("float32", "float64", "int64", "int8", "bool", "complex64", "float16")


def operands_for(subscripts, dtype, seed, extra=(2, 3)):
    """Random arrays for the subscripts; `extra` are the extents of an ellipsis."""
    rng = np.random.default_rng(seed)
    operands = []
    for part in subscripts.split("->")[0].split(","):
        letters = part.replace("...", "")
        shape = [EXTENTS.get(n, 2 + ord(n) % 3) for n in letters]
        if "..." in part:
            position = part.index("...")
            shape[position:position] = extra
        values = rng.standard_normal(shape) * 3
        if dtype.startswith("complex"):
            values = values + 1j * rng.standard_normal(shape)
        operands.append(np.asarray(values > 0 if dtype == "bool" else values).astype(dtype))
    return operands


def wide(x):
    if x.dtype.kind in "biu":
        return x
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def check(ours, theirs, dtype):
    assert isinstance(ours, sw.Array)
    assert ours.dtype == dtype and ours.shape == np.shape(theirs)
    if np.dtype(dtype).kind in "biu":
        np.testing.assert_array_equal(ours.numpy(), theirs)
    else:
        tolerance = {"float16": 2e-2, "float64": 1e-12}.get(dtype, 1e-4)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=tolerance, atol=tolerance * 300)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_subscripts_match_numpy(device, subscripts, dtype):
    xs = operands_for(subscripts, dtype, 7)
    arrays = [sw.array(x, device=device) for x in xs]
    oracle = np.einsum(subscripts, *map(wide, xs))
    check(sw.einsum(subscripts, *arrays), oracle, dtype)
    out = sw.ones(np.shape(oracle), dtype=dtype, device=device)
    assert sw.einsum(subscripts, *arrays, out=out, optimize=True) is out
    check(out, oracle, dtype)


@given(st.data(), st.integers(0, 99))
def test_random_subscripts_and_layouts_match_numpy(device, data, seed):
    letters = st.lists(st.sampled_from("ijkl"), min_size=0, max_size=3)
    parts = data.draw(st.lists(letters, min_size=1, max_size=3))
    used = sorted({n for part in parts for n in part})
    output = "".join(data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))])
    subscripts = ",".join(map("".join, parts)) + "->" + output
    xs = operands_for(subscripts, "int64", seed)
    views, arrays = [], []
    for x in xs:
        if x.ndim and data.draw(st.booleans()):  # an axis that broadcasts
            axis = data.draw(st.integers(0, x.ndim - 1))
            label = parts[len(views)][axis]
            if parts[len(views)].count(label) == 1:
                x = x.take([0], axis)
        order = data.draw(st.permutations(range(x.ndim)))
        base = np.ascontiguousarray(x.transpose(order)).reshape([x.shape[n] for n in order])
        views.append(base.transpose(np.argsort(order)))
        arrays.append(sw.array(base, device=device).transpose(np.argsort(order).tolist()))
    try:
        oracle = np.einsum(subscripts, *views)
    except ValueError:
        with pytest.raises(ValueError, match="einsum"):
            sw.einsum(subscripts, *arrays)
        return
    check(sw.einsum(subscripts, *arrays), oracle, "int64")


def test_lists_of_labels_match_numpy(device):
    x, y = operands_for("ij,jk", "float64", 1)
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    for result in ([], [[0, 2]], [[2, 0]]):
        check(
            sw.einsum(a, [0, 1], b, [1, 2], *result),
            np.einsum(x, [0, 1], y, [1, 2], *result),
            "float64",
        )
    check(
        sw.einsum(a, [..., 1], b, [1, 30], [..., 30]),
        np.einsum(x, [..., 1], y, [1, 30], [..., 30]),
        "float64",
    )


def test_one_operand_gives_views(device):
    a = sw.array(np.arange(9.0).reshape(3, 3), device=device)
    diagonal = sw.einsum("ii->i", a)
    diagonal[...] = 7.0
    assert a.numpy().trace() == 21.0
    assert sw.may_share_memory(sw.einsum("ij->ji", a), a)


def test_optimize_and_dtype_are_accepted(device):
    xs = operands_for("ij,jk,kl->il", "float32", 3)
    arrays = [sw.array(x, device=device) for x in xs]
    oracle = np.einsum("ij,jk,kl->il", *xs)
    for optimize in (True, False, "greedy", "optimal", ["einsum_path", (1, 2), (0, 1)]):
        check(sw.einsum("ij,jk,kl->il", *arrays, optimize=optimize), oracle, "float32")
    assert (
        sw.einsum("i->", sw.ones(3, dtype="float32", device=device), dtype="float64").dtype
        == "float64"
    )
    assert sw.einsum("ij,jk->ik", *arrays[:2], order="F").flags.f_contiguous
    with pytest.raises(TypeError, match="casting"):
        sw.einsum("ij->", arrays[0], dtype="int8")


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3), (2, 3)]),
        ("ij,jk->il", [(2, 3), (3, 2)]),
        ("iij", [(2, 3)]),
        ("ij", [(2, 3), (2, 3)]),
        ("ij,jk", [(2, 3)]),
        ("ij->ijj", [(2, 3)]),
        ("i$", [(2, 3)]),
        ("i", [(2, 3)]),
        ("ii", [(2, 3)]),
        ("...i->i", [(2, 3)]),
        ("......i", [(2, 3)]),
        ("i-j", [(2, 3)]),
    ],
)
def test_invalid_calls_raise_as_in_numpy(device, subscripts, shapes):
    xs = [np.ones(shape) for shape in shapes]
    with pytest.raises(ValueError, match="."):
        np.einsum(subscripts, *xs)
    with pytest.raises(ValueError, match="einsum"):
        sw.einsum(subscripts, *(sw.array(x, device=device) for x in xs))


def test_incomplete_calls_raise(device):
    a = sw.ones((2, 2), device=device)
    with pytest.raises(ValueError, match="expected subscripts"):
        sw.einsum()
    with pytest.raises(ValueError, match="operands"):
        sw.einsum("ij")
    with pytest.raises(ValueError, match="optimize"):
        sw.einsum("ij->", a, optimize="best")
    with pytest.raises(ValueError, match="out of shape"):
        sw.einsum("ij->i", a, out=sw.ones(3, device=device))
    with pytest.raises(ValueError, match="subscript"):
        sw.einsum(a, [0, 77])


def test_a_million_labels_or_axes_are_refused_without_quadratic_work():
    with pytest.raises(ValueError, match="too many subscripts for operand 0: 1000000"):
        sw.einsum("a" * 1_000_000, sw.ones(4))
    with pytest.raises(IndexError, match="more than 64 dimensions"):
        sw.expand_dims(sw.ones(4), tuple(range(200_000)))
