# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions that NumPy evaluates first: the same dtype, shape and values, or the same kind of
error.

In an expression `xp` is the namespace, `a[name]` an array, `x(...)` a scalar of NumPy.
"""

import numpy as np
import pytest

import spanwise as sw

ARRAYS = {
    "b": np.array([True, False, True]),
    "i1": np.array([-128, 0, 127], "i1"),
    "u1": np.array([0, 3, 255], "u1"),
    "i4": np.array([-5, 0, 7], "i4"),
    "i8": np.array([-5, 0, 7]),
    "u8": np.array([0, 3, 2**64 - 1], "u8"),
    "f2": np.array([-1.5, 0, 2], "f2"),
    "f4": np.array([-1.5, 0, 2.5], "f4"),
    "f8": np.array([-1.5, -0.0, 2.5]),
    "c8": np.array([1 + 1j, -1j, -2], "c8"),
    "m": np.array([True, False, True]),
    "mm": np.array([[True, False, True], [False, False, True]]),
    "f2d": np.arange(6.0).reshape(2, 3),
    "z": np.array([-0.0, -0.0]),
    "z4": np.array([[-0.0, -0.0], [0.0, -0.0]], "f4"),
    "zc": np.array([complex(-0.0, -0.0)]),
    "none": np.zeros(0),
    "ends": np.array([-np.inf, -0.0, 4, np.inf], "f4"),
    "ends8": np.array([-np.inf, -0.0, 4, np.inf]),
}

DTYPES = """
xp.multiply(2.5, 3, dtype="i4")
xp.multiply(2.5, 3, dtype="i4", casting="unsafe")
xp.multiply(2, 3, dtype="i4")
xp.multiply(2, 3, dtype="u1")
xp.multiply(True, 3, dtype="?")
xp.multiply(True, True, dtype="?")
xp.multiply(True, 3, dtype="i1")
xp.multiply(1j, 3, dtype="f4")
xp.multiply(2.5, 3, dtype="f4")
xp.multiply(2.5, 3, dtype="c8")
xp.multiply(a["u1"], 3.5, dtype="i4")
xp.multiply(a["u1"], 3, dtype="?")
xp.multiply(a["u1"], 3, dtype="i4")
xp.multiply(a["f4"], 1j, dtype="f4")
xp.multiply(a["i1"], 2, dtype="i1", casting="no")
xp.multiply(a["i1"], 2, casting="no")
xp.multiply(a["f4"], 2, casting="equiv")
xp.multiply(a["f4"], 2.5, casting="safe")
xp.multiply(a["i1"], 2.5, casting="safe")
xp.add(1, 2.5, dtype="i8")
xp.subtract(2.5, a["i4"], dtype="i4")
xp.maximum(2.5, a["i4"], dtype="i4")
xp.power(2.5, 2, dtype="i4")
xp.floor_divide(7.5, 2, dtype="i8")
xp.arctan2(1, 2, dtype="f4")
xp.logaddexp(1, 2j, dtype="f4")
xp.negative(2.5, dtype="i4")
xp.square(3, dtype="f4")
xp.absolute(-2.5, dtype="i4")
xp.exp(0, dtype="f4")
xp.exp(1j, dtype="f4")
xp.less(2.5, 3, dtype="?")
xp.less(2.5, 3, dtype="i4")
xp.logical_and(2.5, 3, dtype="?")
xp.bitwise_and(True, 3, dtype="?")
xp.clip(2.5, 0, 3, dtype="i4")
xp.divide(a["i4"], 2, dtype="f4")
xp.divide(a["i4"], 2, dtype="i4")
xp.sum(a["f4"], dtype="i4")
xp.prod(a["i4"], dtype="f4")
xp.cumsum(a["f4"], dtype="i4")
xp.mean(a["f4"], dtype="f8")
np.minimum.reduce(a["f4"], dtype="f4")
np.minimum.reduce(a["f4"], dtype="f8")
np.minimum.reduce(a["f4"], dtype="i4")
np.maximum.reduce(a["u1"], dtype="f4")
np.maximum.reduce(a["f2d"], axis=1, dtype="f4")
np.maximum.reduce(a["f2d"], axis=None, dtype="f4", keepdims=True)
np.maximum.reduce(a["f4"], dtype="f4", initial=9)
np.logical_and.reduce(a["f4"], dtype="?")
np.logical_or.reduce(a["f4"], dtype="?")
np.logical_or.reduce(a["f4"], dtype="f4")
np.add.reduce(a["f4"], dtype="f8")
np.multiply.reduce(a["i4"], dtype="f4")
np.add.accumulate(a["f4"], dtype="f8")
"""

CLIPS = """
xp.clip(a["u1"], 0, 256)
xp.clip(a["u1"], -1, 3)
xp.clip(a["u1"], -1, 256)
xp.clip(a["u1"], -1, None)
xp.clip(a["u1"], None, 2**70)
xp.clip(a["u1"], 300, 400)
xp.clip(a["u1"], None, -1)
xp.clip(a["u1"], 0, 2.5)
xp.clip(a["i1"], -(2**70), 2**70)
xp.clip(a["i1"], -1000, 5)
xp.clip(a["i1"], 5, 1000)
xp.clip(a["i8"], -(2**63) - 1, 3)
xp.clip(a["u8"], 0, 2**64)
xp.clip(a["f4"], 0, 2**70)
xp.clip(a["f4"], 0, 10**400)
xp.clip(a["u1"], 0, 256, dtype="i4")
xp.clip(a["u1"], 0, x(256))
xp.clip(a["b"], 0, 5)
xp.clip([1, 2], 0, 2**63)
xp.clip(3, 0, 256)
a["u1"].clip(0, 256)
a["u1"].clip(-1)
a["i1"].clip(max=1000)
np.clip(a["u1"], 0, 256)
np.clip(a["u1"], min=-5, max=256)
xp.minimum(a["u1"], 256)
xp.maximum(a["u1"], -1)
"""

FACES = """
xp.asarray([True]).round()
xp.asarray([True]).round(2)
xp.asarray([True]).round(-2)
xp.round(a["b"])
xp.round(True)
xp.round(a["i1"])
xp.round(a["i1"], -2)
xp.round(a["f4"], 1)
a["b"].conj()
a["b"].conjugate()
a["i4"].conj()
a["c8"].conj()
xp.conj(a["b"])
xp.conjugate(True)
a["f4"].conj() is a["f4"]
a["c8"].conj() is a["c8"]
xp.angle(a["c8"])
xp.angle(a["c8"], deg=True)
xp.angle(a["c8"], True)
xp.angle(a["f4"], deg=True)
xp.angle(a["i1"], deg=True)
xp.angle(a["i4"])
xp.angle(a["b"])
xp.angle(a["b"], deg=True)
xp.angle(1j, deg=True)
xp.angle(True)
xp.angle(-1)
np.angle(a["c8"], deg=True)
np.angle(a["b"])
"""

JOINS = """
xp.concatenate([x("float32", 1), 1.0], axis=None)
xp.concatenate([a["f4"], 1.0], axis=None)
xp.concatenate([a["f4"], 1j], axis=None)
xp.concatenate([a["f4"], [1.0]], axis=None)
xp.concatenate([a["f4"], [1.0]])
xp.concatenate([a["u1"], 3], axis=None)
xp.concatenate([a["u1"], 300], axis=None)
xp.concatenate([a["u1"], -1], axis=None)
xp.concatenate([a["u1"], 3, 2.5], axis=None)
xp.concatenate([a["b"], 3], axis=None)
xp.concatenate([a["u1"], True], axis=None)
xp.concatenate([1, 2.0], axis=None)
xp.concatenate([1, True], axis=None)
xp.concatenate([a["f2d"], 1], axis=None)
xp.concatenate([a["f4"], 1.0], axis=None, dtype="f8")
xp.concatenate([a["f4"], 1.0])
xp.hstack([x("float32", 1), 1.0])
xp.append(a["f4"], 1.0)
xp.stack([x("float32", 1), 1.0])
xp.stack([a["f4"], a["f4"]], axis=5)
xp.stack([a["f4"], a["f4"]], axis=-3)
xp.stack([a["f4"], a["f4"]], axis=-2)
xp.concatenate([a["f4"], a["f4"]], axis=1)
xp.unstack(a["f4"], axis=1)
xp.expand_dims(a["f4"], 5)
xp.expand_dims(a["f4"], (0, 5))
xp.squeeze(a["f4"], 3)
xp.moveaxis(a["f2d"], 2, 0)
xp.swapaxes(a["f2d"], 0, 2)
xp.rollaxis(a["f2d"], 2)
xp.rollaxis(a["f2d"], 1, 4)
xp.split(a["f4"], 3, axis=1)
xp.flip(a["f4"], 1)
xp.roll(a["f4"], 1, 1)
xp.repeat(a["f4"], 2, 1)
xp.take(a["f4"], [0], 1)
xp.sum(a["f4"], axis=1)
xp.cumsum(a["f4"], axis=1)
xp.argmax(a["f4"], axis=1)
xp.delete(a["f4"], 0, axis=1)
xp.insert(a["f4"], 0, 1, axis=1)
xp.delete(a["f4"], True)
xp.delete(a["f4"], False)
xp.delete(a["f4"], x("bool", True))
xp.delete(a["f4"], [True, False, True])
xp.delete(a["f4"], [True])
xp.delete(a["f4"], a["m"])
xp.delete(a["f4"], 1.0)
xp.delete(a["f4"], [])
xp.delete(a["f4"], 5)
xp.delete(a["f2d"], True, axis=1)
"""

SHAPES = """
xp.zeros(2.0)
xp.ones((2.0,))
xp.empty([2, 3.0])
xp.full(2.0, 3)
xp.zeros("2")
xp.zeros(None)
xp.zeros(True)
xp.zeros((True, 2))
xp.zeros(-1)
xp.zeros((2, -1))
xp.zeros(x(3))
xp.reshape(a["f4"], (True, -1))
xp.reshape(a["f4"], (3.0,))
xp.reshape(a["f4"], True)
xp.reshape(a["f4"], 4)
a["f4"].reshape(True, -1)
a["f4"].reshape(3.0)
xp.broadcast_to(a["f4"], 3.0)
xp.broadcast_to(a["f4"], (2, 4))
xp.resize(a["f4"], 2.0)
xp.tile(a["f4"], 2.0)
xp.eye(2.0)
xp.zeros_like(a["f4"], shape=2.0)
"""

CLOSE = """
xp.isclose(a["f4"], 2.5 + 1e-9, rtol=0, atol=0)
xp.isclose(2.5 + 1e-9, a["f4"], rtol=0, atol=0)
xp.isclose(a["f4"], x("float64", 2.5 + 1e-9), rtol=0, atol=0)
xp.isclose(a["f4"], 2.5 + 1e-6)
xp.isclose(a["f2"], 2.001)
xp.isclose(a["f4"], 3)
xp.isclose(a["u1"], 3)
xp.isclose(a["u1"], 3.0)
xp.isclose(3, a["u1"])
xp.isclose(1, 1)
xp.isclose(1.0, 1 + 1e-9)
xp.isclose(1.0, float("nan"), equal_nan=True)
xp.isclose(float("nan"), float("nan"), equal_nan=True)
xp.isclose(a["f4"], float("inf"))
xp.isclose(a["c8"], 1 + 1j)
xp.isclose(a["b"], True)
xp.isclose(a["i1"], a["i1"])
xp.isclose(a["f8"], a["f8"], rtol=a["f8"])
xp.isclose(True, 1)
xp.allclose(a["f4"], 2.5 + 1e-9, rtol=0, atol=0)
xp.allclose(x("float32", 1), 1 + 1e-9, rtol=0, atol=0)
xp.allclose(1, 1)
"""

ZEROS = """
xp.sum(-0.0, initial=-0.0)
xp.sum(a["z"], initial=-0.0)
xp.sum(a["z"], initial=0.0)
xp.sum(a["z"])
xp.sum(a["none"], initial=-0.0)
xp.sum(a["none"])
xp.sum(a["z4"], axis=0)
xp.sum(a["z4"], axis=0, initial=-0.0)
xp.sum(a["z4"], axis=1, initial=-0.0)
xp.sum(a["z4"], axis=1, initial=-0.0, dtype="f8")
xp.sum(a["z4"], initial=-0.0)
xp.sum(a["z4"].T, axis=0, initial=-0.0)
xp.sum(a["z4"], axis=0, initial=-0.0, where=xp.asarray([True, False]))
xp.sum(a["z4"], axis=0, initial=-0.0, where=False)
xp.sum(a["z4"], axis=0, where=False)
xp.sum(a["zc"])
xp.sum(a["zc"], initial=complex(-0.0, -0.0))
xp.sum(a["f8"], initial=-0.0)
xp.sum(a["i4"], initial=-0.0)
xp.prod(a["z"], initial=-0.0)
xp.cumsum(a["z"])
xp.cumsum(a["z4"], axis=1)
xp.cumsum(a["zc"])
xp.mean(a["z"])
xp.mean(a["z4"], axis=0)
xp.var(a["z"])
xp.nansum(a["z"])
xp.nansum(a["z"], initial=-0.0)
xp.nansum(xp.asarray([-0.0, float("nan")]), initial=-0.0)
xp.nansum(xp.asarray([float("nan")]))
np.add.reduce(a["z"], initial=-0.0)
np.add.accumulate(a["z"])
xp.power(a["ends8"], 0.5)
xp.power(a["ends"], 0.5)
xp.power(a["ends"], 0.5, dtype="f8")
xp.power(a["ends"], 0.5, out=xp.empty(4, "f4"), where=a["ends"] < 0)[a["ends"] < 0]
xp.power(float("-inf"), 0.5)
a["ends"] ** 0.5
np.power(a["ends"], 0.5)
"""


def same_number(ours, oracle, ulps):
    assert ours.dtype == oracle.dtype
    assert ours.shape == oracle.shape
    if oracle.dtype.kind == "f" and ulps:
        np.testing.assert_allclose(ours, oracle, rtol=ulps * np.finfo(oracle.dtype).eps)
    else:
        np.testing.assert_array_equal(ours, oracle)
    if oracle.dtype.kind == "f":
        is_number = ~np.isnan(oracle)  # the sign of a NaN depends on the processor
        np.testing.assert_array_equal(np.signbit(ours)[is_number], np.signbit(oracle)[is_number])
    elif oracle.dtype.kind == "c":
        np.testing.assert_array_equal(np.signbit(ours.real), np.signbit(oracle.real))
        np.testing.assert_array_equal(np.signbit(ours.imag), np.signbit(oracle.imag))


def kinds_of(error):
    """What a program may catch it as."""
    kinds = (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError, AttributeError)
    return {kind for kind in kinds if isinstance(error, kind)}


def evaluate(expression, xp, arrays):
    def x(dtype, *value):
        return getattr(np, dtype)(*value) if value else np.int64(dtype)

    try:
        with np.errstate(all="ignore"):
            return eval(expression, {"xp": xp, "np": np, "a": arrays, "x": x}), None
    except Exception as error:
        return None, error


@pytest.fixture(scope="module")
def arrays(device):
    return {name: sw.array(array, device=device) for name, array in ARRAYS.items()}


def lines(text):
    return text.strip().splitlines()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "expression",
    [line for text in (DTYPES, CLIPS, FACES, JOINS, SHAPES, CLOSE, ZEROS) for line in lines(text)],
)
def test_expression_matches_numpy(device, arrays, expression):
    oracle, expected = evaluate(expression, np, {name: a.copy() for name, a in ARRAYS.items()})
    with device:
        result, error = evaluate(expression, sw, arrays)
    if expected is not None:
        assert error is not None, f"NumPy raises {expected!r}, got {result!r}"
        assert kinds_of(error) >= kinds_of(expected), repr(error)
        return
    if error is not None:
        raise error
    if isinstance(oracle, bool):
        assert result is oracle
    elif isinstance(oracle, tuple | list):
        assert [r.tolist() for r in result] == [o.tolist() for o in oracle]
    else:
        assert isinstance(result, sw.Array)
        # NumPy's own arctan2 depends on the processor: AVX-512 machines have another one.
        rounds = "angle" in expression or "arctan2" in expression
        same_number(result.numpy(), np.asarray(oracle), ulps=2 if rounds else 0)


# ---- Functions that write ----


COPIES = """
xp.copyto(t, 0, where=m)
xp.copyto(t, 7, where=True)
xp.copyto(t, 7, where=False)
xp.copyto(t, s, where=m)
xp.copyto(t, s[:1], "same_kind", m)
xp.copyto(t, [7, 8, 9], where=[True, False, True])
xp.copyto(t, 7, where=m[:1])
xp.copyto(t, 300, where=m)
xp.copyto(t, 2.5, where=m)
xp.copyto(t, 1j, where=m)
xp.copyto(t, s + 0.5, where=m)
xp.copyto(t, s + 0.5, casting="unsafe", where=m)
xp.copyto(t, 7, where=s)
xp.copyto(t, 7, where=xp.asarray([True, False]))
xp.copyto(t, xp.asarray([1, 2]), where=m)
xp.copyto(t[::2], 7, where=m[::2])
xp.copyto(t, t[::-1], where=m)
xp.copyto(t, 300)
xp.copyto(t, 2.5)
np.copyto(t, 7, where=m)
xp.putmask(t, m, s)
xp.putmask(t, m, s.astype(t.dtype))
xp.putmask(t, m, [2.5])
xp.putmask(t, m, 2.5)
xp.putmask(t, m, np.float64(2.5))
xp.place(t, m, [5])
xp.place(t, m, s)
xp.place(t, m, s.astype(t.dtype))
xp.copyto(t, True)
xp.copyto(t, 7, casting="no")
xp.copyto(t, 2.5, casting="unsafe")
xp.copyto(t, 2.5, "same_kind", m)
xp.copyto(t, True, where=m)
xp.add(t, 1, out=t, where=m)
xp.square(t, out=t, where=m)
xp.clip(t, 0, 1000, out=t)
xp.clip(t, -1000, 1000, out=t)
xp.round(t, 0, out=t)
"""


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "c8"])
@pytest.mark.parametrize("expression", lines(COPIES))
def test_assignment_to_a_target_matches_numpy(device, expression, dtype):
    target, source, mask = np.array([9, 0, 3], dtype), np.array([4, 5, 6]), ARRAYS["m"]
    ours = [sw.array(x, device=device) for x in (target, source, mask)]

    def run(xp, t, s, m):
        try:
            with np.errstate(all="ignore"), device:
                eval(expression, {"xp": xp, "np": np, "t": t, "s": s, "m": m})
        except Exception as error:
            return error

    expected, error = run(np, target, source, mask), run(sw, *ours)
    assert (error is None) == (expected is None), (expected, error)
    if expected is not None:
        assert kinds_of(error) >= kinds_of(expected), repr(error)
    np.testing.assert_array_equal(ours[0].numpy(), target)
