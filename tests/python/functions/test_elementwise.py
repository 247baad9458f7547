# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations, eager: NumPy's answers for every operation, dtype and layout."""

import itertools
import operator
import pickle
import warnings

import numpy as np
import pytest
from support.arrays import assert_same, poisoned, windows, writable_broadcast
from support.elementwise import ALL, REALS, assert_close, operand

import spanwise as sw

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

UFUNCS = sorted(n for n in dir(sw) if isinstance(getattr(sw, n), sw.ufunc) and hasattr(np, n))
UNARY = [n for n in UFUNCS if getattr(sw, n).nin == 1]
BINARY = [n for n in UFUNCS if getattr(sw, n).nin == 2]
NUMBERS = (True, 3, -2, 300, 2**40, 1.5, 2 + 1j)


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def on_gpu(device):
    return device != sw.device("cpu")


def few(dtypes, device):
    """On a GPU each dtype of each operation is a compilation."""
    kept = ("float32", "int32", "bool", "float16", "complex64", "uint8")
    return kept if on_gpu(device) else dtypes


def moved(value, device):
    return sw.asarray(value, device=device) if isinstance(value, np.ndarray) else value


def check(name, operands, device):
    """The same answer, or an error of the same kind."""
    try:
        oracle = getattr(np, name)(*operands)
        if name == "log1p" and oracle.dtype.kind == "c":  # NumPy's has few right digits near 0
            oracle = np.log1p(operands[0].astype(np.clongdouble)).astype(oracle.dtype)
    except Exception as error:
        expected = (ValueError,) if isinstance(error, ValueError) else (TypeError, OverflowError)
        with pytest.raises(expected):
            getattr(sw, name)(*(moved(value, device) for value in operands))
        return
    assert_close(getattr(sw, name)(*(moved(value, device) for value in operands)), oracle)


@pytest.mark.parametrize("name", UNARY)
def test_unary_operations_match_numpy_in_every_dtype(name, device):
    for seed, dtype in enumerate(few(ALL, device)):
        if name == "angle" and dtype == "bool":
            continue  # np.angle is no ufunc and returns float64 for bool only
        check(name, [operand(dtype, (97,), seed)], device)


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations_match_numpy_for_every_pair_of_dtypes(name, device):
    pairs = [(left, right) for left in ALL for right in ALL]
    if on_gpu(device):
        pairs = [(d, d) for d in few(ALL, device)] + [("int8", "float32"), ("uint64", "int64")]
    for seed, (left, right) in enumerate(pairs):
        check(name, [operand(left, (61,), seed), operand(right, (61,), seed + 999)], device)


@pytest.mark.parametrize("name", BINARY)
def test_python_numbers_are_weak(name, device):
    for seed, dtype in enumerate(few(ALL, device)[:3] if on_gpu(device) else ALL):
        for number in (3, 1.5) if on_gpu(device) else NUMBERS:
            array = operand(dtype, (13,), seed)
            check(name, [array, number], device)
            check(name, [number, array], device)


def test_python_numbers_keep_the_dtype_or_raise_overflow(device):
    a = sw.array([1, 2], "int8", device=device)
    assert (a + 1).dtype == "int8" and (a + 1.5).dtype == "float64"
    assert (sw.array([1.0], "float32", device=device) + 1.0).dtype == "float32"
    assert (sw.array([1.0], "float16", device=device) * 2j).dtype == "complex64"
    with pytest.raises(OverflowError, match="300"):
        a + 300
    assert (a == 300).tolist() == [False, False] and (a < 300).tolist() == [True, True]
    assert (a < 2**70).tolist() == [True, True]
    assert sw.add(1, 2).dtype == "int64" and sw.add(1, 2.5).item() == 3.5


@pytest.mark.parametrize("name", ["add", "multiply", "power", "arctan2", "less", "fmax"])
def test_bfloat16_is_computed_in_float32_and_rounded_once(name, device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = (operand("float32", (200,), seed).astype(ml_dtypes.bfloat16) for seed in (1, 2))
    ours = getattr(sw, name)(sw.asarray(a, device=device), sw.asarray(b, device=device)).numpy()
    exact = getattr(np, name)(a.astype("float64"), b.astype("float64"))
    if exact.dtype == bool:
        np.testing.assert_array_equal(ours, exact)
        return
    assert ours.dtype == ml_dtypes.bfloat16
    step = np.abs(exact) * 2.0**-8 * 1.02 + 1e-37  # half a unit in the last place, and a bit
    wide = ours.astype("float64")
    good = (np.abs(wide - exact) <= step) | (wide == exact) | (np.isnan(wide) & np.isnan(exact))
    overflows = np.isinf(wide) & (np.abs(exact) > 3.38e38)
    assert (good | overflows).all()


def test_nextafter_of_16_bit_floats_matches_numpy(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (np.float16, ml_dtypes.bfloat16):
        a, b = (operand("float32", (300,), seed).astype(dtype) for seed in (1, 2))
        ours = sw.nextafter(sw.asarray(a, device=device), sw.asarray(b, device=device)).numpy()
        np.testing.assert_array_equal(ours.astype("float32"), np.nextafter(a, b).astype("float32"))


# ---- layouts

RANDOM = ["add", "divide", "less", "exp", "sqrt", "floor_divide", "maximum", "logical_or", "hypot"]


@hypothesis.given(
    data=st.data(),
    name=st.sampled_from(RANDOM),
    window=windows(),
    dtypes=st.tuples(*[st.sampled_from(REALS)] * 2),
    seed=st.integers(0, 2**31),
)
def test_random_layouts_match_numpy(device, data, name, window, dtypes, seed):
    left = operand(dtypes[0], window.base_shape, seed)
    a = window.of(left)
    shape = tuple(data.draw(st.sampled_from((1, n))) for n in a.shape)
    shape = shape[data.draw(st.integers(0, len(shape))) :]
    axes = data.draw(st.permutations(range(len(shape))))
    b = operand(dtypes[1], tuple(shape[i] for i in axes), seed + 1).transpose(np.argsort(axes))
    ours = [window.of(sw.array(left, device=device)), sw.asarray(b, device=device)]
    theirs = [a, b]
    count = getattr(np, name).nin
    oracle = getattr(np, name)(*theirs[:count])
    result = getattr(sw, name)(*ours[:count])
    assert_close(result, oracle)
    if device == sw.device("cpu") and oracle.size > 1:
        assert [s for s, n in zip(result.strides, result.shape, strict=True) if n > 1] == [
            s for s, n in zip(oracle.strides, oracle.shape, strict=True) if n > 1
        ]


@hypothesis.given(
    window=windows(broadcast=False),
    into=st.sampled_from(["float32", "float64", "complex64", "float16"]),
    masked=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_out_and_where_change_only_selected_elements(device, window, into, masked, seed):
    random = np.random.default_rng(seed)
    guarded = poisoned(window.base_shape, into, device)
    before = guarded.numpy().copy()
    out, theirs = window.of(guarded), window.of(before)
    a, b = operand("float32", out.shape, seed), operand("int16", out.shape, seed + 1)
    mask = random.integers(0, 2, out.shape).astype(bool) if masked else np.True_
    np.add(a, b, out=theirs, where=mask)
    ours = [sw.asarray(x, device=device) for x in (a, b)]
    where = sw.asarray(mask, device=device) if masked else True
    assert sw.add(*ours, out=out, where=where) is out
    after, before = guarded.numpy(), before
    same = (after == before) | ((after != after) & (before != before))
    assert same.all()


@hypothesis.given(
    shift=st.integers(-3, 3),
    step=st.sampled_from([1, -1, 2]),
    dtypes=st.tuples(*[st.sampled_from(["int16", "float32", "int32", "float64"])] * 2),
)
def test_out_may_overlap_the_operands(device, shift, step, dtypes):
    size = 5000
    memory = operand(dtypes[0], (size + 10,), 3)
    ours = sw.array(memory, device=device)
    theirs = memory.copy()
    for base, call in ((theirs, np.add), (ours, sw.add)):
        source = base[5 : 5 + size : abs(step)][:: 1 if step > 0 else -1]
        target = base[5 + shift : 5 + shift + len(source)]
        call(source, source, out=target, casting="unsafe")
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_out_may_be_a_view_of_an_operand_with_another_dtype(device):
    memory = sw.array(np.arange(4000, dtype="int32"), device=device)
    sw.multiply(memory, 2, out=memory.view("float32"), casting="unsafe")
    np.testing.assert_array_equal(memory.view("float32").numpy(), np.arange(4000) * 2.0)


def test_out_whose_elements_overlap_is_written(device):
    out = writable_broadcast(sw.zeros((1,), "int64", device=device), (3,))
    sw.add(sw.array([7, 7, 7], device=device), 1, out=out)
    assert out.tolist() == [8, 8, 8]


def test_misaligned_memory_is_read_correctly():
    memory = np.zeros(8 * 600 + 1, "uint8")
    odd = memory[1:].view("float64")
    odd[:] = np.arange(600)
    np.testing.assert_array_equal(sw.add(odd, 1).numpy(), odd + 1)
    np.testing.assert_array_equal((sw.asarray(odd[::2]) * 2).numpy(), odd[::2] * 2)


@pytest.mark.parametrize("shape", [(3, 100_000), (100_000, 3), (70, 70, 70), (300_001,)])
@pytest.mark.parametrize("name", ["add", "less", "exp", "power"])
def test_large_arrays_match_numpy(name, shape, device):
    a = np.abs(operand("float32", shape, 1)).astype("float32")
    b = np.float32(0.5) + operand("uint8", shape[-1:], 2) % 3
    operands = [a, b.astype("float32")][: getattr(np, name).nin]
    assert_close(
        getattr(sw, name)(*(sw.asarray(x, device=device) for x in operands)),
        getattr(np, name)(*operands),
    )
    assert_close(
        getattr(sw, name)(*(sw.asarray(x, device=device)[::-1, ...] for x in operands)),
        getattr(np, name)(*(x[::-1] for x in operands)),
    )


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "less", "greater_equal", "equal"])
def test_scalar_left_operand_matches_numpy(name, dtype, device):
    """Loops take one in the second place, where the operation has a twin with its operands
    turned."""
    if (name, dtype) == ("subtract", "bool"):
        pytest.skip("no subtraction of bool")
    values = operand(dtype, (70, 33), 1)
    if dtype in ("float32", "complex64"):
        values[0, :4] = np.nan, np.inf, -np.inf, -0.0
    where = operand("bool", (70, 33), 2)
    one, array, mask = (sw.asarray(x, device=device) for x in (values[2:3, 2:3], values, where))
    ours, theirs = getattr(sw, name), getattr(np, name)
    expected = theirs(values[2:3, 2:3], values)
    assert_close(ours(one, array), expected)
    assert_close(ours(one, array[::-2, ::3]), expected[::-2, ::3])
    out = sw.zeros(expected.shape, expected.dtype, device=device)
    ours(one, array, out=out, where=mask)
    assert_close(out, np.where(where, expected, np.zeros_like(expected)))


@pytest.mark.parametrize("order", "CFAK")
def test_result_has_numpys_strides_for_each_order(order, device):
    a = operand("float32", (4, 5, 6), 0).transpose(2, 0, 1)
    ours = sw.add(sw.asarray(a, device=device), 1, order=order)
    oracle = np.add(np.asarray(a), 1, order=order)
    assert_close(ours, oracle)
    assert ours.strides == oracle.strides


@pytest.mark.parametrize("shape", [(4, 5), (5,), (4, 1), (1, 5)])
def test_order_a_is_fortran_order_for_fortran_operands(shape, device):
    a = np.asfortranarray(operand("float32", (4, 5), 0))
    for b in (operand("float32", shape, 1), np.asfortranarray(operand("float32", shape, 1))):
        ours = sw.add(*(sw.asarray(x, device=device) for x in (a, b)), order="A")
        assert ours.strides == np.add(a, b, order="A").strides


def test_dtype_argument_sets_the_result_dtype(device):
    a = operand("complex64", (20,), 1)
    ours = sw.asarray(a, device=device)
    assert_close(sw.absolute(ours, dtype="float64"), np.absolute(a, dtype="float64"))
    assert_close(sw.add(ours, 1, dtype="complex128"), np.add(a, 1, dtype="complex128"))
    left, right = (sw.asarray([1, 2], dtype, device=device) for dtype in ("int64", "uint64"))
    for function in (sw.logical_and, sw.less, sw.equal):
        assert function(left, right, dtype=bool).dtype == "bool"
        with pytest.raises(TypeError, match="no loop gives dtype=float32"):
            function(left, right, dtype="float32")
    with pytest.raises(TypeError, match="no loop gives dtype=float64"):
        sw.logical_not(left, dtype="float64")


# ---- operators

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
    class Knowing:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

        def __req__(self, other):
            return "no"

    assert sw.zeros(2) + Knowing() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        sw.zeros(2) + None


# ---- functions of several


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
    made = ours**exponent
    assert made.dtype == oracle.dtype
    assert_close(made, oracle)
    if oracle.dtype == a.dtype:
        kept = ours
        ours **= exponent
        assert ours is kept
        assert_close(ours, oracle)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "float32", "complex128"])
def test_clip_may_write_to_any_operand(device, dtype):
    rng = np.random.default_rng(5)
    a, low, high = ((rng.random((3, 2500)) * 9 - 4).astype(dtype) for _ in range(3))
    if np.dtype(dtype).kind == "f":
        for values in (a, low, high):
            values[rng.random(values.shape) < 0.1] = np.nan
    oracle = np.clip(a, low, high)
    for place in (None, 0, 1, 2):
        ours = [sw.array(values, device=device) for values in (a, low, high)]
        out = None if place is None else ours[place]
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
    mine = sw.array(c, device=device)
    assert_close(mine.T.real, c.T.real)
    assert_close(sw.imag(mine[::2]), c[::2].imag)
    mine.imag = 0
    assert not mine.numpy().imag.any()
    assert_close(mine.conj(), mine.numpy().conj())


def test_sigmoid_softplus_and_erf_have_their_limits(device):
    x = np.array([-1000, -30, -1, 0, 1, 30, 1000, np.inf, -np.inf, np.nan])
    ours = sw.asarray(x, device=device)
    sigmoid, softplus = sw.sigmoid(ours).numpy(), sw.softplus(ours).numpy()
    assert sigmoid[0] == 0 and sigmoid[6] == sigmoid[7] == 1 and sigmoid[8] == 0
    assert softplus[0] == 0 and softplus[6] == 1000 and softplus[7] == np.inf and softplus[8] == 0
    assert np.isnan(sigmoid[9]) and np.isnan(softplus[9])
    np.testing.assert_allclose(sigmoid[1:6], 1 / (1 + np.exp(-x[1:6])), rtol=1e-15)
    np.testing.assert_allclose(softplus[1:6], np.logaddexp(0, x[1:6]), rtol=1e-15)
    import math

    np.testing.assert_allclose(sw.erf(ours).numpy()[:9], [math.erf(v) for v in x[:9]], rtol=1e-15)


# ---- errors


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
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex128"])
def test_broadcast_rows_and_columns_match_numpy(dtype, device):
    """Arrays that are contiguous along the last axis, beside such that do not move along it."""
    matrix, row, column = (operand(dtype, s, 3) for s in ((6, 5, 48), (48,), (6, 1, 1)))
    masks = operand("bool", (5, 48), 4), operand("bool", (5, 1), 5)
    for left, right in (
        (matrix, row),
        (column, matrix),
        (matrix[:, :, 8:40], matrix[::-1, 1:2, 16:]),
        (matrix[:, :, 1:33], row[16:]),
        (column, row),
    ):
        expected = np.add(left, right)
        assert_close(sw.add(moved(left, device), moved(right, device)), expected)
        for mask in masks:
            mask = mask[:, : expected.shape[-1]]
            if expected.shape[1] == 1:
                mask = mask[:1]
            ours = poisoned(expected.shape, dtype, device)
            oracle = ours.numpy().copy()
            sw.add(moved(left, device), moved(right, device), out=ours, where=moved(mask, device))
            np.add(left, right, out=oracle, where=mask)
            assert_close(ours, oracle)


def test_negative_exponents_of_integers_are_refused(device):
    a = sw.array([2, 3], "int32", device=device)
    exponents = sw.array([-1, 2], "int32", device=device)
    for exponent in (-1, exponents, exponents.T[::-1]):
        with pytest.raises(ValueError, match="negative integer powers"):
            a**exponent
    # Where they are masked out they do not matter.
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


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_by_one_number_are_rounded_down(device, dtype):
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, 2, 3]
    rng = np.random.default_rng(5)
    some = rng.integers(limits.min, limits.max, 200, dtype)
    values = np.concatenate([np.array(edges, dtype), some])
    ours = sw.array(values, device=device)
    divisors = {1, 2, 3, 5, 7, 10, 64, 100, limits.max, limits.max - 1, limits.max // 2 + 1}
    divisors |= {2**k + d for k in range(1, limits.bits - 1) for d in (-1, 0, 1)}
    if limits.min < 0:
        divisors |= {-1, -2, -3, -7, limits.min, limits.min + 1}
    for divisor in sorted(d for d in divisors if limits.min <= d <= limits.max and d != 0):
        with np.errstate(over="ignore"):
            assert_same(ours // divisor, values // divisor)
            assert_same(ours % divisor, values % divisor)
    with np.errstate(divide="ignore"):
        assert_same(ours // 0, values // np.array(0, dtype))
        assert_same(ours % 0, values % np.array(0, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_any_count_match_numpy(device, dtype):
    limits = np.iinfo(dtype)
    counts = np.arange(-3 if limits.min < 0 else 0, 2 * limits.bits - 3).astype(dtype)
    values = np.random.default_rng(6).integers(limits.min, limits.max, counts.shape, dtype)
    a, by = sw.array(values, device=device), sw.array(counts, device=device)
    assert_same(a << by, values << counts)
    assert_same(a >> by, values >> counts)
    assert_same(a[::-3] >> by[::3], values[::-3] >> counts[::3])


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_whole_numbers_are_finite(device, dtype):
    values = np.arange(40).astype(dtype)
    a = sw.array(values, device=device)
    for name in ("isnan", "isinf", "isfinite"):
        assert_same(getattr(sw, name)(a), getattr(np, name)(values))
        assert_same(getattr(sw, name)(a[::-2]), getattr(np, name)(values[::-2]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 7, 8, 33, 1000])
def test_exponentials_overflow_and_underflow(device, dtype, count):
    limits = np.finfo(dtype)
    last = [np.log(limits.max), np.log(limits.smallest_subnormal), np.log(limits.tiny)]
    near = [place for x in last for place in (x - 1, x - 1e-3, x, x + 1e-3, x + 1)]
    values = np.array([*near, 1e30, -1e30, np.inf, -np.inf, np.nan, 0, -0.0, 90, -105, 711, -747])
    values = np.resize(np.random.default_rng(8).permutation(values), count).astype(dtype)
    with np.errstate(all="ignore"):
        wide = np.exp(values.astype("longdouble"))
        expected = wide.astype(dtype)
        sigmoid = (1 / (1 + np.exp(-values.astype("longdouble")))).astype(dtype)
    for ours, oracle in (
        (sw.exp(sw.array(values, device=device)), expected),
        (sw.sigmoid(sw.array(values, device=device)), sigmoid),
    ):
        np.testing.assert_allclose(
            ours.numpy(), oracle, rtol=8 * limits.eps, atol=4 * float(limits.smallest_subnormal)
        )


# ---- the objects


def test_ufuncs_have_numpys_attributes():
    assert (sw.add.nin, sw.add.nout, sw.add.nargs, sw.add.__name__) == (2, 1, 3, "add")
    assert repr(sw.exp) == "<ufunc 'exp'>" and pickle.loads(pickle.dumps(sw.exp)) is sw.exp
    assert "numpy.exp" in sw.exp.__doc__
    with pytest.raises(TypeError):
        sw.ufunc()


@pytest.mark.parametrize("name", UFUNCS)
def test_types_are_numpys(name):
    theirs = getattr(np, name)
    if not isinstance(theirs, np.ufunc):
        pytest.skip("no ufunc in NumPy")
    known = set("?bBhHiIlLefdFD")
    ours = {t for t in getattr(sw, name).types if "E" not in t}
    oracle = {t for t in theirs.types if set(t) <= known | set("->")}
    if name in ("divide", "true_divide"):
        oracle = {t for t in oracle if t[0] in "efdFD"}  # we cast to those
    assert ours == {t for t in oracle if len(set(t[: theirs.nin])) == 1}
    if theirs.identity is not None:
        assert getattr(sw, name).identity == theirs.identity


# ---- NumPy's ufuncs


def test_numpy_ufuncs_give_our_arrays(device):
    a = sw.array([1.0, 4.0], "float32", device=device)
    for result, oracle in (
        (np.sqrt(a), [1, 2]),
        (np.add(a, 1), [2, 5]),
        (np.multiply(2.0, a), [2, 8]),
        (np.true_divide(a, a), [1, 1]),
        (np.abs(a), [1, 4]),
    ):
        assert isinstance(result, sw.Array) and result.device == device
        assert result.tolist() == oracle
    quotient, rest = np.divmod(a, 3)
    assert quotient.tolist() == [0, 1] and rest.tolist() == [1, 1]
    out = sw.zeros(2, "float32", device=device)
    assert np.negative(a, out=out) is out and out.tolist() == [-1, -4]


def test_numpy_operands_mix_on_the_cpu_and_raise_on_a_gpu(device):
    a, b = sw.array([1.0, 2.0], device=device), np.array([3.0, 4.0])
    if on_gpu(device):  # NumPy's memory is the host's, and nothing crosses unasked
        for mixed in (
            lambda: a + b,
            lambda: b + a,
            lambda: np.add(b, a),
            lambda: np.add(a, a, out=b),
        ):
            with pytest.raises(sw.DeviceError, match=r"\.to\("):
                mixed()
        assert b.tolist() == [3, 4]
        return
    for result in (a + b, b + a, np.add(b, a)):
        assert isinstance(result, sw.Array) and result.tolist() == [4, 6]
    b += a
    assert type(b) is np.ndarray and b.tolist() == [4, 6]
    assert np.add(a, a, out=b) is b and b.tolist() == [2, 4]


# How a window lies in memory: the axes' order there, and what is taken of them. Its fast axis is
# another than the result's, or runs the other way, or has gaps, or starts anywhere.
LIES = {
    "as it is": ((0, 1, 2), np.s_[:]),
    "transposed": ((2, 1, 0), np.s_[:]),
    "far ends": ((2, 0, 1), np.s_[:]),
    "next to last": ((0, 2, 1), np.s_[:]),
    "backwards": ((0, 1, 2), np.s_[:, :, ::-1]),
    "backwards across": ((2, 1, 0), np.s_[::-1, :, ::-1]),
    "every other": ((0, 1, 2), np.s_[:, :, ::2]),
    "every other across": ((2, 1, 0), np.s_[::2, :, ::-1]),
    "odd": ((0, 1, 2), np.s_[:, :, 1:]),
    "odd across": ((2, 1, 0), np.s_[3:, :, 1:]),
}


def both(lie, shape, make, device):
    """A view of `shape` with that memory order in make(base shape): ours, and NumPy's."""
    order, key = LIES[lie]
    base = [0, 0, 0]
    for axis, place in enumerate(order):
        base[place] = 2 * shape[axis] + 3
    values = make(tuple(base))
    cut = tuple(slice(0, n) for n in shape)
    ours, theirs = sw.array(values, device=device), values.copy()
    return ours.transpose(order)[key][cut], theirs.transpose(order)[key][cut]


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.tuples(st.integers(1, 140), st.integers(1, 3), st.integers(1, 140)),
    *[st.sampled_from(sorted(LIES))] * 4,
    st.sampled_from(["uint8", "float16", "float32", "float64", "complex128"]),
    st.sampled_from([(), (0,), (2,)]),
    st.booleans(),
)
def test_operands_of_any_layout_may_overlap_the_result(
    device, shape, first, second, into, over, dtype, stays, masked
):
    """Tiles, packs that are turned, single elements beside packs: whatever the windows ask for."""
    short = tuple(1 if axis in stays else n for axis, n in enumerate(shape))
    pairs = [
        both(first, shape, lambda base: operand(dtype, base, 1), device),
        both(second, short, lambda base: operand(dtype, base, 2), device),
    ]
    ours, theirs = zip(*pairs, strict=True)
    assert_close(sw.add(*ours), np.add(*theirs))

    out, oracle = both(into, shape, lambda base: poisoned(base, dtype, device).numpy(), device)
    mask, where = True, True
    if masked:
        mask, where = both(over, shape, lambda base: operand("bool", base, 4), device)
    np.multiply(*theirs, out=oracle, where=where)
    sw.multiply(*ours, out=out, where=mask)
    assert_close(out, oracle)


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
        found = layout(sw.array(x, device=device)).clip(low, high).numpy()
        expected = layout(x).clip(low, high)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
