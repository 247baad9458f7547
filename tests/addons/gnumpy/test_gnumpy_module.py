# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.gnumpy: Gnumpy's functions against NumPy in double precision."""

import operator
import pickle

import numpy as np
import pytest
from addons.theano.runner import run_script

import spanwise as sw
from spanwise import gnumpy as g

R = np.random.default_rng(8)


pytestmark = pytest.mark.usefixtures("default_device")


def host(*shape):
    return R.uniform(-2, 2, shape).astype(np.float32)


def close(x, expected, rtol=2e-6, atol=2e-6):
    assert isinstance(x, g.garray), type(x)
    assert x.array.dtype == "float32" and x.shape == np.shape(expected)
    assert x.array.flags.c_contiguous
    np.testing.assert_allclose(x.as_numpy_array(), expected, rtol, atol)


OPERATORS = ("add", "sub", "mul", "truediv", "lt", "gt", "le", "ge", "eq", "ne")


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_broadcast_and_take_numbers_and_arrays(name):
    function = getattr(operator, name)
    a, b, row = host(3, 4), host(3, 4), host(4)
    b[1] = a[1]
    x, wide = g.garray(a), a.astype("f8")
    for other, value in (
        (g.garray(b), b),
        (g.garray(row), row),
        (b, b),
        (0.5, 0.5),
        ([1, 2, 3, 4], [1, 2, 3, 4]),
    ):
        close(function(x, other), function(wide, value).astype("f8"))
    close(function(1.5, x), function(1.5, wide).astype("f8"))
    close(function(b, x), function(b.astype("f8"), wide).astype("f8"))
    column = g.garray(host(3, 1))
    close(function(x[0], column), function(wide[:1], column.as_numpy_array()).astype("f8"))


def test_operators_in_place_keep_the_memory():
    a = host(3, 4)
    x = g.garray(a)
    alias = x
    x += 1
    x *= g.garray(a)
    x -= a
    x /= 2
    x **= 2
    close(alias, (((a + 1.0) * a - a) / 2) ** 2, 1e-5, 1e-5)
    close(-x, -x.as_numpy_array())
    close(abs(g.garray(a)), np.abs(a))
    close((x > 1) & (x < 2) | (x == 0), np.logical_and(x.asarray() > 1, x.asarray() < 2))
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(NotImplementedError, match="other than a scalar"):
        x**x


FUNCTIONS = {
    "abs": np.abs, "exp": np.exp, "isinf": np.isinf, "isnan": np.isnan, "log": np.log,
    "log_1_plus_exp": lambda x: np.logaddexp(0, x), "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "negative": np.negative, "sign": np.sign, "sqrt": np.sqrt, "tanh": np.tanh,
    "log10": np.log10, "log2": np.log2, "cos": np.cos, "sin": np.sin,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_garrays_arrays_and_numbers(name):
    a = np.abs(host(2, 3, 4)) + 0.1
    expected = FUNCTIONS[name](a.astype("f8"))
    close(getattr(g, name)(g.garray(a)), expected, 1e-5, 1e-5)
    close(getattr(g.garray(a), name)(), expected, 1e-5, 1e-5)
    for got, value in ((getattr(g, name)(a), np.ndarray), (getattr(g, name)(0.5), float)):
        assert type(got) is value
    np.testing.assert_allclose(getattr(g, name)(a), expected, rtol=1e-5)
    with pytest.raises(TypeError, match="unexpected type"):
        getattr(g, name)("a")


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "std", "all", "any"])
def test_reductions(name):
    a = host(3, 4, 2)
    a[0, 0] = 0
    x, wide = g.garray(a), a.astype("f8")
    function = getattr(np, name)
    for axis in (0, 1, 2, -1):
        close(getattr(x, name)(axis), function(wide, axis=axis).astype("f8"), 1e-5, 1e-5)
        close(getattr(g, name)(x, axis), function(wide, axis=axis).astype("f8"), 1e-5, 1e-5)
    whole = getattr(x, name)()
    assert type(whole) is float and whole == pytest.approx(
        float(function(wide)), rel=1e-5, abs=1e-6
    )
    assert type(getattr(g, name)(a, 0)) is np.ndarray
    with pytest.raises(ValueError, match="out of bounds"):
        getattr(x, name)(3)


def test_indexes_and_what_shares_memory():
    a = host(5, 4, 3)
    x = g.garray(a)
    for index in (
        1, -2, (1, 2), (slice(1, 4),), (slice(None), 2), (Ellipsis, 1), (slice(None), slice(1, 3), 0),
        (None, 2), (slice(0, 5, 2),), (slice(None), None, slice(2)),
    ):  # fmt: skip
        close(x[index], a[index])
    assert type(x[1, 2, 0]) is float and x[1, 2, 0] == a[1, 2, 0]
    close(x[[3, 0]], a[[3, 0]])
    close(x[g.garray([3.0, -1.0])], a[[3, -1]])
    close(x[:, np.array([2, 0])], a[:, [2, 0]])
    for index, shares in (
        (1, True),
        (slice(1, 3), True),
        ((slice(None), 1), False),
        ([3, 4], False),
    ):
        part = x[index]
        part[...] = 99
        assert (x[index].as_numpy_array() == 99).all() == shares
        a[index] = 99 if shares else a[index]
    close(x, a)
    x.reshape(-1)[0] = 7
    x.T[0] = 5  # a copy
    a[0, 0, 0] = 7
    close(x, a)
    close(x.T, a.T)
    close(x.transpose(1, 0, 2), a.transpose(1, 0, 2))
    close(x.transpose_simple(1), np.moveaxis(a, 0, 2))
    close(x.reshape_2d(1), a.reshape(5, 12))
    for rows, shape in ((0, (1, 60)), (2, (20, 3)), (3, (60, 1)), (-1, (20, 3)), (-3, (1, 60))):
        assert x.reshape_2d(rows).shape == shape
    close(g.garray(x, copy=False, ndmin=4), a[None])
    with pytest.raises(IndexError, match="more indices than axes"):
        x[0, 0, 0, 0]
    with pytest.raises(ValueError, match="cannot be changed in a reshape"):
        x.reshape(7)


def test_assignment_broadcasts_and_checks_shapes():
    a = host(5, 4)
    x = g.garray(a)
    for index, value in (
        (1, 3.0), ((slice(None), 2), host(5)), ((slice(1, 3), slice(2)), host(2)), (slice(2), host(4)),
        (slice(None), host(1, 1, 4)), ([4, 0], host(2, 4)),
    ):  # fmt: skip
        x[index] = g.garray(value) if isinstance(value, np.ndarray) else value
        a[index] = np.reshape(value, np.shape(value)[-2:])
        close(x, a)
    for index, shape in ((slice(None), (3, 4)), (0, (5,)), (0, (2, 4))):
        with pytest.raises(ValueError, match="Incompatible shapes in slice assign"):
            x[index] = g.zeros(shape)
    x[0][g.garray([])] = g.garray([])
    close(x, a)


def test_constructors_and_joins():
    a = host(2, 3)
    for data in (a, a.astype("f8"), a.tolist(), (tuple(row) for row in a), sw.asarray(a)):
        close(g.garray(data), a)
    close(g.garray([g.garray(a[0]), a[1]]), a)
    close(g.garray(3), 3.0)
    close(g.zeros(3), np.zeros(3))
    close(g.ones((2, 3)), np.ones((2, 3)))
    close(g.eye(3), np.eye(3))
    close(g.diagflat(g.garray([1, 2]), 1), np.diagflat([1, 2], 1))
    close(g.tile(g.garray(a), (2, 1, 2)), np.tile(a, (2, 1, 2)))
    close(g.tile(4, (2, 2)), np.full((2, 2), 4))
    for axis in (0, 1, -1):
        close(g.concatenate([g.garray(a), a], axis), np.concatenate([a, a], axis))
    close(g.where(g.garray(a) > 0, a, -1), np.where(a > 0, a, -1))
    np.testing.assert_array_equal(g.nonzero(g.garray(a) > 0), np.nonzero(a > 0))
    close(pickle.loads(pickle.dumps(g.garray(a))), a)
    assert g.is_array(a) and not g.is_garray(a) and g.as_garray_or_scalar(2) == 2
    with pytest.raises(TypeError, match="Cannot convert"):
        g.garray("ab")


def test_products():
    a, b, v = host(3, 4), host(4, 2), host(4)
    x, y, w = map(g.garray, (a, b, v))
    wide = a.astype("f8")
    close(g.dot(x, y), wide @ b)
    close(g.dot(x, w), wide @ v)
    close(g.dot(w, y), v @ b.astype("f8"))
    assert type(g.dot(w, w)) is float and g.dot(w, w) == pytest.approx(float(v @ v), rel=1e-6)
    t = host(2, 4, 3)
    close(g.dot(x, g.garray(t)), np.dot(wide, t))
    close(g.outer(w, x[0]), np.outer(v, a[0]))
    close(
        g.tensordot(g.garray(t), g.garray(t), ([0, 1], [0, 1])),
        np.tensordot(t, t, ([0, 1], [0, 1])),
    )
    with pytest.raises(ValueError, match="not aligned for dot product"):
        g.dot(x, x)


def test_random_numbers_checks_and_conversion(monkeypatch):
    g.seed_rand(5)
    x = g.rand(200, 50)
    assert x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.02
    assert abs(g.randn((200, 50)).std() - 1) < 0.03 and type(g.rand()) is float
    g.seed_rand(5)
    assert (g.rand(200, 50) == x).all()
    with pytest.raises(TypeError, match=r"as_numpy_array\(\)"):
        np.asarray(x)
    monkeypatch.setenv("GNUMPY_IMPLICIT_CONVERSION", "allow")
    assert np.asarray(x).dtype == np.float64
    monkeypatch.setattr(g, "acceptable_number_types", "no nans or infs")
    with pytest.raises(g.GnumpyNumberTypeException, match="no nans or infs"):
        x / 0
    monkeypatch.setattr(g, "acceptable_number_types", 10)
    with pytest.raises(g.GnumpyNumberTypeException, match="10"):
        x + 11
    assert repr(g.garray([[1, 2], [3, 4]])) == "garray([[1., 2.],\n        [3., 4.]])"
    assert g.usingGpu() == (sw.default_device().kind == "cuda") and g.memory_in_use() >= 0


SCRIPT = """
    import numpy as np
    import gnumpy as gpu
    def rbm(n):
        w = gpu.garray(np.arange(6).reshape(2, 3) / 10.)
        v = gpu.garray([[1, 0], [0, 1]])
        h = (gpu.dot(v, w)).logistic()
        w += 0.1 * gpu.dot(v.T, h)
        return (h - 0.5).sum(0), w
    h, w = rbm(2)
    print h.shape, w.asarray().round(3).tolist()
    import spanwise as sw
    x = sw.asarray(w)
    x[0, 0] = -1
    print w[0, 0], gpu.as_numpy_array(sw.to_gnumpy(sw.ones((2, 2), dtype="float32"))).sum()
    import theano.misc.gnumpy_utils as utils
    print utils.gnumpy_available
"""


def test_scripts_run_where_gnumpy_is_missing(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", SCRIPT)
    assert printed.splitlines() == [
        "(3,) [[0.05, 0.152, 0.255], [0.357, 0.46, 0.562]]",
        "-1.0 4.0",
        "True",
    ]
