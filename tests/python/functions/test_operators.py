# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators of arrays, ufunc attributes, clip and errors, against NumPy."""

import itertools
import math
import operator
import pickle
import warnings

import numpy as np
import pytest
from support.elementwise import assert_close, operand
from support.elementwise_cases import UFUNCS

import spanwise as sw


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor,
    operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, divmod,
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATORS, ids=lambda f: f.__name__)
def test_operators_match_numpy_for_either_operand(operation, device):
    a, b = np.array([1, 5, 7, 2], "int32"), np.array([3, 1, 2, 2], "int32")
    ours, theirs = sw.asarray(a, device=device), sw.asarray(b, device=device)
    for result, oracle in (
        (operation(ours, theirs), operation(a, b)),
        (operation(ours, 2), operation(a, 2)),
        (operation(7, ours), operation(7, a)),
    ):
        if operation is divmod:
            assert_close(result[1], oracle[1])
            result, oracle = result[0], oracle[0]
        assert_close(result, oracle)
    if device == sw.device("cpu"):
        result = operation(ours, b)
        assert_close(result[0] if operation is divmod else result, np.asarray(
            operation(a, b)[0] if operation is divmod else operation(a, b)))  # fmt: skip


def test_in_place_operators_keep_the_array(device):
    a = sw.array([1, 2, 3], "int32", device=device)
    same = a
    a += 2
    a *= sw.array([1, 2, 3], "int8", device=device)
    a -= 1
    a //= 2
    a %= 5
    a **= 2
    a <<= 1
    a >>= 1
    a |= 8
    a &= 12
    a ^= 1
    oracle = np.array([1, 2, 3], "int32")
    oracle += 2
    oracle *= np.array([1, 2, 3], "int8")
    oracle = ((((((oracle - 1) // 2) % 5) ** 2) | 8) & 12) ^ 1
    assert a is same and a.dtype == "int32"
    np.testing.assert_array_equal(a.numpy(), oracle)
    with pytest.raises(TypeError, match="cannot cast the result from float64 to int32"):
        a += 1.5
    with pytest.raises(TypeError, match="cannot cast"):
        a /= 2


def test_unary_operators_and_round_match_numpy(device):
    a = np.array([-1.5, 2.5, 3.14159], "float32")
    ours = sw.asarray(a, device=device)
    for operation in (operator.neg, operator.pos, abs):
        assert_close(operation(ours), operation(a))
    assert_close(round(ours), a.round())
    assert_close(ours.round(2), a.round(2))
    assert_close(sw.round(ours * 100, -1), np.round(a * 100, -1))
    assert_close(~sw.array([0, 5], "uint8", device=device), ~np.array([0, 5], "uint8"))
    with pytest.raises(TypeError, match="not defined for float32"):
        operator.invert(ours)


def test_foreign_operand_handles_the_operation():
    class Operand:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

    assert sw.zeros(2) + Operand() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        sw.zeros(2) + None


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("exponent", [-1, -1.0, 0, 0.5, 1, 1.0, 2, 2.0, 3, True])
def test_powers_with_special_exponents_match_numpy(device, dtype, exponent):
    a = np.array([-2.5, -0.0, 0.0, 0.5, 1, 3, 7], dtype)
    if np.dtype(dtype).kind in "fc":
        a = np.append(a, np.array([np.inf, -np.inf, np.nan], dtype)[: 3 * (a.dtype.kind == "f")])
    elif exponent == -1 and isinstance(exponent, int):
        with pytest.raises(ValueError, match="negative integer powers"):
            sw.asarray(a, device=device) ** exponent
        return
    with np.errstate(all="ignore"):
        oracle = a**exponent
    ours = sw.array(a, device=device)
    result = ours**exponent
    assert result.dtype == oracle.dtype
    assert_close(result, oracle)
    if oracle.dtype == a.dtype:
        before = ours
        ours **= exponent
        assert ours is before
        assert_close(ours, oracle)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "float32", "complex128"])
def test_clip_may_write_to_any_operand(device, dtype):
    rng = np.random.default_rng(5)
    a, low, high = ((rng.random((3, 2500)) * 9 - 4).astype(dtype) for _ in range(3))
    if np.dtype(dtype).kind == "f":
        for values in (a, low, high):
            values[rng.random(values.shape) < 0.1] = np.nan
    oracle = np.clip(a, low, high)
    for position in (None, 0, 1, 2):
        ours = [sw.array(values, device=device) for values in (a, low, high)]
        out = None if position is None else ours[position]
        assert_close(sw.clip(*ours, out=out), oracle)


def test_clip_where_divmod_real_and_imag_match_numpy(device):
    a = np.array([[-1.5, 0.5], [np.nan, 9]], "float32")
    ours = sw.asarray(a, device=device)
    assert_close(sw.clip(ours, 0, 2), np.clip(a, 0, 2))
    assert_close(ours.clip(max=1), a.clip(max=1))
    assert_close(sw.clip(ours, min=0), np.clip(a, 0, None))
    assert_close(sw.where(ours > 0, ours, 0), np.where(a > 0, a, 0).astype("float32"))
    assert sw.where(ours > 0, 1, 2).dtype == "int64"
    for part, oracle in zip(sw.divmod(ours, 2), np.divmod(a, np.float32(2)), strict=True):
        assert_close(part, oracle)
    c = operand("complex64", (3, 4), 0)
    ours_complex = sw.array(c, device=device)
    assert_close(ours_complex.T.real, c.T.real)
    assert_close(sw.imag(ours_complex[::2]), c[::2].imag)
    ours_complex.imag = 0
    assert not ours_complex.numpy().imag.any()
    assert_close(ours_complex.conj(), ours_complex.numpy().conj())


def test_sigmoid_softplus_and_erf_have_their_limits(device):
    x = np.array([-1000, -30, -1, 0, 1, 30, 1000, np.inf, -np.inf, np.nan])
    ours = sw.asarray(x, device=device)
    sigmoid, softplus = sw.sigmoid(ours).numpy(), sw.softplus(ours).numpy()
    assert sigmoid[0] == 0 and sigmoid[6] == sigmoid[7] == 1 and sigmoid[8] == 0
    assert softplus[0] == 0 and softplus[6] == 1000 and softplus[7] == np.inf and softplus[8] == 0
    assert np.isnan(sigmoid[9]) and np.isnan(softplus[9])
    np.testing.assert_allclose(sigmoid[1:6], 1 / (1 + np.exp(-x[1:6])), rtol=1e-15)
    np.testing.assert_allclose(softplus[1:6], np.logaddexp(0, x[1:6]), rtol=1e-15)
    np.testing.assert_allclose(sw.erf(ours).numpy()[:9], [math.erf(v) for v in x[:9]], rtol=1e-15)


def test_errors_name_the_operation_and_the_remedy(device):
    a = sw.ones(2, device=device)
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    readonly = sw.asarray(frozen)
    cases = [
        (lambda: sw.add(a, sw.ones(3, device=device)), ValueError, "add.*broadcast"),
        (lambda: sw.add(a, a, out=sw.ones(3, device=device)), ValueError, "out's shape"),
        (lambda: sw.add(a, a, out=sw.ones(2, "int8", device=device)), TypeError, "casting"),
        (lambda: sw.add(a, a, dtype="int32"), TypeError, "cannot cast an operand"),
        (lambda: sw.add(a, a, casting="wild"), ValueError, "same_kind"),
        (lambda: sw.add(a), TypeError, "takes 2 operands"),
        (lambda: sw.add(a, a, axis=1), TypeError, "no argument 'axis'"),
        (lambda: sw.add(a, a, where=a), TypeError, "must be bool"),
        (lambda: sw.bitwise_and(a, 1), TypeError, "not defined for float64"),
        (lambda: sw.floor_divide(a, 1j), TypeError, "not defined"),
        (lambda: sw.negative(a > 0), TypeError, "bool"),
        (lambda: (a > 0) - (a > 0), TypeError, "bool"),
        (lambda: sw.add(a, object()), TypeError, "object"),
        (lambda: sw.where(a > 0, a), ValueError, "both or neither.*nonzero"),
        (lambda: sw.add(a, a, out=readonly), ValueError, "read-only"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()


def test_negative_exponents_of_integers_are_refused(device):
    a = sw.array([2, 3], "int32", device=device)
    exponents = sw.array([-1, 2], "int32", device=device)
    for exponent in (-1, exponents, exponents.T[::-1]):
        with pytest.raises(ValueError, match="negative integer powers"):
            a**exponent
    # Masked-out exponents are ignored.
    out = sw.zeros(2, "int32", device=device)
    sw.power(a, exponents, out=out, where=sw.array([False, True], device=device))
    assert out.tolist() == [0, 9]


def test_devices_do_not_mix():
    gpus = [d for d in sw.devices() if str(d) != "cpu"]
    if not gpus:
        pytest.skip("needs a GPU")
    a, b = sw.ones(2, device=gpus[0]), sw.ones(2, device="cpu")
    with pytest.raises(sw.DeviceError, match=r"\.to\("):
        a + b
    assert (a + sw.array(2.0, device="cpu")).device == gpus[0]


def test_ufuncs_have_numpys_attributes():
    assert (sw.add.nin, sw.add.nout, sw.add.nargs, sw.add.__name__) == (2, 1, 3, "add")
    assert repr(sw.exp) == "<ufunc 'exp'>" and pickle.loads(pickle.dumps(sw.exp)) is sw.exp
    assert "numpy.exp" in sw.exp.__doc__
    with pytest.raises(TypeError):
        sw.ufunc()


@pytest.mark.parametrize("name", UFUNCS)
def test_types_match_numpy(name):
    theirs = getattr(np, name)
    if not isinstance(theirs, np.ufunc):
        pytest.skip("no ufunc in NumPy")
    known = set("?bBhHiIlLefdFD")
    ours = {t for t in getattr(sw, name).types if "E" not in t}
    oracle = {t for t in theirs.types if set(t) <= known | set("->")}
    if name in ("divide", "true_divide"):
        oracle = {t for t in oracle if t[0] in "efdFD"}  # Spanwise casts integers to those
    assert ours == {t for t in oracle if len(set(t[: theirs.nin])) == 1}
    if theirs.identity is not None:
        assert getattr(sw, name).identity == theirs.identity


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64"])
def test_clip_to_numbers_matches_numpy(dtype, device):
    """Rows of any length; limits that are NaN, in the wrong order, or one-sided."""
    x = np.random.default_rng(4).integers(0, 100, (3, 131)).astype(dtype)
    limits = [(20, 70), (70, 20), (None, 50), (50, None)]
    if np.dtype(dtype).kind == "f":
        x[:, ::7], x[:, 1::9], x[:, 2::9] = np.nan, -0.0, np.inf
        limits += [(0.0, 70.5), (-np.inf, -0.0), (np.nan, 5), (5, np.nan)]
    layouts = (lambda a: a, lambda a: a[:, ::-3], lambda a: a.T, lambda a: a[:, :1])
    for layout, (low, high) in itertools.product(layouts, limits):
        result = layout(sw.array(x, device=device)).clip(low, high).numpy()
        expected = layout(x).clip(low, high)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))
