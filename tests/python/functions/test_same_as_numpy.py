# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions that NumPy evaluates first: the same dtype, shape and values, or the same kind of
error.

In an expression `xp` is the namespace, `a[name]` an array, `x(...)` a scalar of NumPy.
"""

import numpy as np
import pytest
from support.numpy_expressions import ARRAYS, CLIPS, CLOSE, DTYPES, JOINS, METHODS, SHAPES, ZEROS

import spanwise as sw


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
    """The built-in exception classes by which programs catch the error."""
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
    [
        line
        for text in (DTYPES, CLIPS, METHODS, JOINS, SHAPES, CLOSE, ZEROS)
        for line in lines(text)
    ],
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
        # NumPy's own arctan2 depends on the processor: its AVX-512 version rounds differently.
        rounds = "angle" in expression or "arctan2" in expression
        same_number(result.numpy(), np.asarray(oracle), ulps=2 if rounds else 0)


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
