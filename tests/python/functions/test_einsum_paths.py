# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum's order= and optimize=, as numpy.einsum has them."""

import numpy as np
import pytest

import spanwise as sw

PATHS = [
    [(0, 1), (0, 1), (0, 1)],
    [(2, 3), (0, 1), (0, 1)],
    [(1, 2), (0, 2), (0, 1)],
    [(0, 1, 2, 3)],
    [(0, 3, 1), (0, 1)],
    [(0,), (1,), (0, 1), (0, 1, 2)],
    [(0, 1), (0, 1), (0, 1), (0,)],
]


def operands(device):
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-3, 4, s).astype("f4") for s in ((2, 3), (3, 4), (4, 2), (3, 4))]
    return arrays, [sw.array(a, device=device) for a in arrays]


@pytest.mark.parametrize("subscripts", ["ij,jk,kl,jk->il", "ij,jk,kl,jk", "ij,jk,ki,mn->im"])
@pytest.mark.parametrize("path", PATHS)
def test_all_paths_have_equal_results(device, subscripts, path):
    arrays, ours = operands(device)
    expected = np.einsum(subscripts, *arrays)
    for steps in (path, [list(step) for step in path]):
        result = sw.einsum(subscripts, *ours, optimize=["einsum_path", *steps])
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("optimize", [("greedy", 10), ("optimal", 1e6), None, True, "greedy"])
def test_path_methods_give_the_same_result(device, optimize):
    arrays, ours = operands(device)
    result = sw.einsum("ij,jk,kl->il", *ours[:3], optimize=optimize)
    np.testing.assert_array_equal(result.numpy(), np.einsum("ij,jk,kl->il", *arrays[:3]))


def test_paths_of_numpy_einsum_path_are_accepted(device):
    arrays, ours = operands(device)
    path, _ = np.einsum_path("ij,jk,kl,jk->il", *arrays, optimize="optimal")
    result = sw.einsum("ij,jk,kl,jk->il", *ours, optimize=path)
    np.testing.assert_array_equal(result.numpy(), np.einsum("ij,jk,kl,jk->il", *arrays))


@pytest.mark.parametrize(
    "optimize",
    [
        [(0, 1)],
        [],
        5,
        ["einsum_path", 7],
        ["einsum_path", (0, 1)],
        ["einsum_path", (0,)],
        ["einsum_path"],
        ["einsum_path", (0, 3), (0, 1)],
        ["einsum_path", (0, 1, 2, 3)],
        ["einsum_path", (0, 1), (0, 2)],
        ["einsum_path", (0, 1.5), (0, 1)],
    ],
)
def test_invalid_paths_raise_as_in_numpy(device, optimize):
    arrays, ours = operands(device)
    with pytest.raises((TypeError, IndexError, RuntimeError)) as expected:
        np.einsum("ij,jk,kl->il", *arrays[:3], optimize=optimize)
    with pytest.raises(expected.type, match="einsum|integer|iterable|len"):
        sw.einsum("ij,jk,kl->il", *ours[:3], optimize=optimize)


# ---- order=


@pytest.mark.parametrize("order", ["C", "F", "A", "c", "f", "a"])
@pytest.mark.parametrize("orders", ["CC", "FF", "CF", "FC"])
@pytest.mark.parametrize(
    "subscripts", ["ij,jk->ik", "ij,jk->ki", "ij,jk->ijk", "...ij,jk->...ik", "ij,kl->ik"]
)
def test_result_has_the_requested_order(device, subscripts, orders, order):
    arrays = [np.asarray(a, order=o) for a, o in zip(operands(device)[0], orders, strict=False)]
    ours = [sw.array(a, device=device) for a in arrays]
    expected = np.einsum(subscripts, *arrays, order=order)
    result = sw.einsum(subscripts, *ours, order=order)
    np.testing.assert_array_equal(result.numpy(), expected)
    assert result.strides == expected.strides


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("subscripts", ["ij->ij", "ij->ji", "ii->i", "...->..."])
def test_view_results_are_views_for_any_order(device, subscripts, order):
    array = np.arange(9.0).reshape(3, 3)
    ours = sw.array(array, device=device)
    expected, result = (
        np.einsum(subscripts, array, order=order),
        sw.einsum(subscripts, ours, order=order),
    )
    assert np.shares_memory(expected, array)
    assert sw.may_share_memory(result, ours)
    assert result.strides == expected.strides
    np.testing.assert_array_equal(result.numpy(), expected)


def test_einsum_with_another_dtype_gives_a_copy(device):
    ours = sw.array(np.arange(6.0).reshape(2, 3), device=device)
    result = sw.einsum("ij->ij", ours, dtype="f4", casting="same_kind", order="F")
    assert not sw.may_share_memory(result, ours)
    assert result.flags.f_contiguous


def test_an_unknown_order_is_an_error(device):
    with pytest.raises(ValueError, match="order must be one of"):
        sw.einsum("i->i", sw.zeros(2, device=device), order="Z")
