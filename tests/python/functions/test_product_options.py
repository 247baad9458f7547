# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of products: NumPy's order=, axes=, axis= and keepdims=."""

import itertools

import numpy as np
import pytest

import spanwise as sw


def random_array(shape, memory_order=None):
    """Random numbers whose axes are in memory in the order `memory_order`, by default C order."""
    rng = np.random.default_rng(sum(shape))
    memory_order = tuple(range(len(shape))) if memory_order is None else memory_order
    stored = rng.random([shape[axis] for axis in memory_order])
    return stored.transpose(np.argsort(memory_order))


def check_same_layout(ours, theirs):
    """Compares values, shapes and the strides of axes with more than one element."""
    assert ours.shape == theirs.shape
    steps = [
        (s, t) for n, s, t in zip(ours.shape, ours.strides, theirs.strides, strict=True) if n > 1
    ]
    assert all(s == t for s, t in steps), (ours.shape, ours.strides, theirs.strides)
    np.testing.assert_allclose(ours.numpy(), theirs)


def check(name, device, *factors, **options):
    theirs = getattr(np, name, None) or pytest.skip(f"this NumPy has no {name}")
    ours = [sw.asarray(factor, device=device) for factor in factors]
    check_same_layout(getattr(sw, name)(*ours, **options), theirs(*factors, **options))


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("memory_order", list(itertools.permutations(range(4)))[::3])
def test_products_have_numpys_strides_for_each_order(order, memory_order, device):
    a, b, c = (
        random_array((2, 3, 4, 5), memory_order),
        random_array((2, 3, 5, 6), memory_order),
        random_array((2, 3, 4, 5)),
    )
    for right in (b, b[:1], b[0], b[0, 0], c.swapaxes(2, 3)):
        check("matmul", device, a, right, order=order)
    check("vecdot", device, a, c, order=order)
    check("matvec", device, a, c[:, :, 0], order=order)
    check("vecmat", device, c[..., 0], a, order=order)


@pytest.mark.parametrize("name", ["matmul", "vecdot"])
def test_products_have_numpys_memory_order_by_default(name, device):
    a = random_array((3, 2, 4, 4), (3, 1, 0, 2))
    check(name, device, a, a)


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("memory_order", [(0, 1, 2), (2, 1, 0)])
def test_order_and_axes_together_match_numpy(order, memory_order, device):
    a, b = random_array((2, 3, 4), memory_order), random_array((2, 4, 5), memory_order)
    check("matmul", device, a, b, axes=[(1, 2), (1, 2), (0, 1)], order=order)
    check("matmul", device, a.T, b.T, axes=[(1, 0), (1, 0), (1, 0)], order=order)
    check("vecdot", device, a, a, axis=1, keepdims=True, order=order)


def test_numpy_matmul_passes_order_on(device):
    a, b = random_array((2, 3, 4)), random_array((2, 4, 5))
    ours = np.matmul(sw.asarray(a, device=device), sw.asarray(b, device=device), order="F")
    assert isinstance(ours, sw.Array)
    assert ours.device == device
    check_same_layout(ours, np.matmul(a, b, order="F"))


def test_order_is_ignored_with_out(device):
    a = sw.asarray(random_array((4, 4)), device=device)
    out = sw.empty((4, 4), dtype="float64", device=device)
    assert sw.matmul(a, a, out, order="F") is out
    assert out.flags.c_contiguous


def test_unsupported_keywords_of_products_raise(device):
    a = sw.asarray(random_array((4, 4)), device=device)
    with pytest.raises(ValueError, match='expected "C", "F", "A" or "K", got "Z"'):
        sw.matmul(a, a, order="Z")
    for ours in (sw.matmul, sw.vecdot, sw.add):
        with pytest.raises(
            TypeError, match="signature.*set the dtype of the computation with dtype="
        ):
            ours(a, a, signature="dd->d")
        assert ours(a, a, subok=False).dtype == "float64"


def test_axes_and_keepdims_match_numpy(device):
    x, y = random_array((3, 4, 5)), random_array((3, 6, 5))
    a, b = sw.array(x, device=device), sw.array(y, device=device)
    axes = [(1, 0), (0, 1), (2, 0)]
    expected = np.matmul(x, y, axes=axes)
    np.testing.assert_allclose(sw.matmul(a, b, axes=axes).numpy(), expected)
    product = sw.empty(expected.shape, dtype="float64", device=device)
    assert sw.matmul(a, b, out=product, axes=axes) is product
    np.testing.assert_allclose(product.numpy(), expected)
    for axis in (0, 1, 2, -1):
        for keepdims in (False, True):
            np.testing.assert_allclose(
                sw.vecdot(a, a, axis=axis, keepdims=keepdims).numpy(),
                np.vecdot(x, x, axis=axis, keepdims=keepdims),
            )
    out = sw.empty((3, 5), dtype="float64", device=device)
    assert sw.vecdot(a, a, out, axis=1) is out
    np.testing.assert_allclose(out.numpy(), np.vecdot(x, x, axis=1))
    with pytest.raises(TypeError, match="axis="):
        sw.matmul(a, a, axis=0)
    with pytest.raises(ValueError, match="axes"):
        sw.matmul(a, a, axes=[(0,), (1,), (0,)])
    for wrong in (3, [(0, 9), (0, 1), (1, 0)], [(0, 1), (0, 1), (1, 1)]):
        with pytest.raises((ValueError, TypeError, IndexError), match="matmul: "):
            sw.matmul(a[0], b[0], axes=wrong)


def test_axes_of_vectors_match_numpy(device):
    a, v = random_array((3, 4)), random_array((4,))
    check("matmul", device, a, v, axes=[(0, 1), 0, 0])
    check("matmul", device, v, a.T, axes=[(0,), (0, 1), (0,)])
    check("matmul", device, v, v, axes=[0, 0, ()])
    check("matvec", device, a.T, v, axes=[(1, 0), 0, 0])


@pytest.mark.parametrize("axes", [[0, 1], [0, 1, 0], [0, 1, 1], [-1, -2, -2]])
def test_keepdims_keeps_the_axis(axes, device):
    a, b = random_array((3, 4)), random_array((4, 3))
    check("vecdot", device, a, b, axes=axes, keepdims=True)
    expected = np.vecdot(a, b, axes=axes, keepdims=True)
    out = sw.zeros(expected.shape, dtype="float64", device=device)
    factors = (sw.asarray(factor, device=device) for factor in (a, b))
    assert sw.vecdot(*factors, out, axes=axes, keepdims=True) is out
    np.testing.assert_allclose(out.numpy(), expected)
