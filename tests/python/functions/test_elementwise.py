# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations against NumPy, in every dtype and in random layouts."""

import warnings

import numpy as np
import pytest
from support.arrays import assert_same, poisoned, windows
from support.elementwise import ALL, REALS, assert_close, operand
from support.elementwise_cases import UFUNCS, hypothesis, on_gpu, st

import spanwise as sw

UNARY = [n for n in UFUNCS if getattr(sw, n).nin == 1]


BINARY = [n for n in UFUNCS if getattr(sw, n).nin == 2]


NUMBERS = (True, 3, -2, 300, 2**40, 1.5, 2 + 1j)


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def few(dtypes, device):
    """Fewer dtypes on a GPU, where each dtype of each operation is a kernel to compile."""
    gpu_dtypes = ("float32", "int32", "bool", "float16", "complex64", "uint8")
    return gpu_dtypes if on_gpu(device) else dtypes


def on_device(value, device):
    return sw.asarray(value, device=device) if isinstance(value, np.ndarray) else value


def check(name, operands, device):
    """Compares the result with NumPy's, or the kind of the error where NumPy raises."""
    try:
        oracle = getattr(np, name)(*operands)
        if name == "log1p" and oracle.dtype.kind == "c":  # NumPy's is inaccurate near 0
            oracle = np.log1p(operands[0].astype(np.clongdouble)).astype(oracle.dtype)
    except Exception as error:
        expected = (ValueError,) if isinstance(error, ValueError) else (TypeError, OverflowError)
        with pytest.raises(expected):
            getattr(sw, name)(*(on_device(value, device) for value in operands))
        return
    assert_close(getattr(sw, name)(*(on_device(value, device) for value in operands)), oracle)


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
    # Half a unit in the last place and 2 % of it; 1e-37 for results near underflow.
    step = np.abs(exact) * 2.0**-8 * 1.02 + 1e-37
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
    """Loops take a scalar as the right operand; a left one changes places with it where an operation with
    exchanged operands exists, such as greater for less."""
    if (name, dtype) == ("subtract", "bool"):
        pytest.skip("no subtraction of bool")
    values = operand(dtype, (70, 33), 1)
    if dtype in ("float32", "complex64"):
        values[0, :4] = np.nan, np.inf, -np.inf, -0.0
    where = operand("bool", (70, 33), 2)
    scalar, array, mask = (sw.asarray(x, device=device) for x in (values[2:3, 2:3], values, where))
    ours, theirs = getattr(sw, name), getattr(np, name)
    expected = theirs(values[2:3, 2:3], values)
    assert_close(ours(scalar, array), expected)
    assert_close(ours(scalar, array[::-2, ::3]), expected[::-2, ::3])
    out = sw.zeros(expected.shape, expected.dtype, device=device)
    ours(scalar, array, out=out, where=mask)
    assert_close(out, np.where(where, expected, np.zeros_like(expected)))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "complex128"])
def test_broadcast_rows_and_columns_match_numpy(dtype, device):
    """Operands that are contiguous along the last axis, with operands whose stride there is 0."""
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
        assert_close(sw.add(on_device(left, device), on_device(right, device)), expected)
        for mask in masks:
            mask = mask[:, : expected.shape[-1]]
            if expected.shape[1] == 1:
                mask = mask[:1]
            ours = poisoned(expected.shape, dtype, device)
            oracle = ours.numpy().copy()
            sw.add(
                on_device(left, device),
                on_device(right, device),
                out=ours,
                where=on_device(mask, device),
            )
            np.add(left, right, out=oracle, where=mask)
            assert_close(ours, oracle)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_divided_by_a_number_are_rounded_down(device, dtype):
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, 2, 3]
    rng = np.random.default_rng(5)
    random_values = rng.integers(limits.min, limits.max, 200, dtype)
    values = np.concatenate([np.array(edges, dtype), random_values])
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
def test_integers_and_bool_are_finite(device, dtype):
    values = np.arange(40).astype(dtype)
    a = sw.array(values, device=device)
    for name in ("isnan", "isinf", "isfinite"):
        assert_same(getattr(sw, name)(a), getattr(np, name)(values))
        assert_same(getattr(sw, name)(a[::-2]), getattr(np, name)(values[::-2]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 7, 8, 33, 1000])
def test_exponentials_overflow_and_underflow(device, dtype, count):
    limits = np.finfo(dtype)
    bounds = [np.log(limits.max), np.log(limits.smallest_subnormal), np.log(limits.tiny)]
    near = [bound + step for bound in bounds for step in (-1, -1e-3, 0, 1e-3, 1)]
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
