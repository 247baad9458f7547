# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""+ - * / and negation of graph variables: NumPy's result for every dtype, shape and layout."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}
REAL = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATING = ("float16", "float32", "float64", "complex64", "complex128")


def compiled(operation, dtypes, ranks, device):
    variables = [T.tensor(dtype, (None,) * rank) for dtype, rank in zip(dtypes, ranks, strict=True)]
    return sw.function(variables, operation(*variables), device=device)


def values(dtype, shape, seed=0):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    parts = random.standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


def check(ours, oracle):
    assert ours.dtype == oracle.dtype and ours.shape == oracle.shape
    if oracle.dtype.kind == "c":  # the last digit depends on how products are rounded
        eps = np.finfo(oracle.dtype).eps
        np.testing.assert_allclose(ours.numpy(), oracle, rtol=8 * eps, atol=8 * eps)
    else:
        np.testing.assert_array_equal(ours.numpy(), oracle)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("left", REAL + FLOATING)
@pytest.mark.parametrize("right", REAL + FLOATING)
def test_every_pair_of_dtypes_matches_numpy(name, left, right, device):
    if name == "subtract" and left == right == "bool":
        pytest.skip("NumPy has no such operation either")
    a, b = values(left, (7,), 1), values(right, (7,), 2)
    with np.errstate(all="ignore"):
        oracle = OPERATIONS[name](a, b)
    if device != sw.device("cpu") and left > right:
        pytest.skip("one order of two dtypes suffices where each is a compilation")
    check(compiled(OPERATIONS[name], (left, right), (1, 1), device)(a, b), oracle)


@pytest.mark.parametrize("dtype", REAL[1:] + FLOATING)
def test_negation_matches_numpy(dtype, device):
    a = values(dtype, (3, 5))
    with np.errstate(all="ignore"):
        oracle = -a
    check(compiled(lambda x: -x, (dtype,), (2,), device)(a[:, ::-2]), oracle[:, ::-2])


def test_invalid_calls_raise_as_in_numpy():
    b = T.tensor("bool", (None,))
    for make in (lambda: b - b, lambda: -b):
        with pytest.raises(TypeError, match="not defined for bool"):
            make()
    with pytest.raises(ValueError, match="do not fit"):
        T.tensor("float32", (3,)) + T.tensor("float32", (4,))


def test_bfloat16_rounds_to_nearest_even(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = (values("float32", (100,), seed).astype(ml_dtypes.bfloat16) for seed in (1, 2))
    for operation in OPERATIONS.values():
        ours = compiled(operation, ("bfloat16",) * 2, (1, 1), device)(a, b)
        assert np.array_equal(ours.numpy().astype("float32"), operation(a, b).astype("float32"))


def test_special_values_match_numpy(device):
    a = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e38, 1e-45], "float32")
    f = compiled(lambda x, y: x / y, ("float32",) * 2, (2, 1), device)
    with np.errstate(all="ignore"):
        check(f(a[:, None], a), a[:, None] / a)
    c = np.array([0, 1, 1j, np.inf, 1e300 + 1e300j], "complex128")
    with np.errstate(all="ignore"):
        check(
            compiled(lambda x, y: x / y, ("complex128",) * 2, (1, 1), device)(c + 1, c[::-1]),
            (c + 1) / c[::-1],
        )


def test_static_shapes_broadcast_in_the_type():
    x, row = T.tensor("float32", (None, 3)), T.frow()
    assert (x + row).type.shape == (None, 3)
    assert (T.fcol() + T.frow()).type.shape == (None, None)
    assert (x + 1).type == x.type
    assert (T.tensor("float32", (1,)) + T.tensor("float32", (5, 1))).type.shape == (5, 1)


def test_empty_and_scalar_operands_are_accepted(device):
    f = compiled(lambda x, y: x + y, ("float32",) * 2, (2, 2), device)
    assert f(np.ones((0, 3), "float32"), np.ones((1, 1), "float32")).shape == (0, 3)
    g = compiled(lambda x, y: x * y, ("float32",) * 2, (0, 0), device)
    assert g(np.float32(3), np.float32(4)).item() == 12


def test_shapes_that_do_not_broadcast_raise(device):
    f = compiled(lambda x, y: x + y, ("float32",) * 2, (1, 1), device)
    with pytest.raises(ValueError, match="Add"):
        f(np.ones(2, "float32"), np.ones(3, "float32"))


def test_results_keep_the_operands_order_of_axes(device):
    f = compiled(lambda x, y: x + y, ("float32",) * 2, (2, 2), device)
    a = sw.asarray(values("float32", (3, 5)), device=device)
    for window in (a, a.T):
        result = f(window, window)
        assert result.strides == window.strides
        assert np.array_equal(result, window.numpy() * 2)


def test_misaligned_memory_is_read_correctly_or_refused(device):
    bytes_ = np.zeros(4 * 6 + 1, "uint8")
    misaligned = bytes_[1:].view("float32")
    misaligned[:] = np.arange(6)
    f = compiled(lambda x, y: x + y, ("float32",) * 2, (1, 1), device)
    try:
        result = f(misaligned, misaligned)
    except sw.Error as error:  # a bridge may refuse such memory, but never misread it
        assert "align" in str(error)
    else:
        assert np.array_equal(result, misaligned * 2)


def test_random_layouts_match_numpy(device):
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st
    from support.arrays import numbers, windows

    functions = {}  # by the ranks of the operands

    @hypothesis.given(data=st.data(), window=windows(), seed=st.integers(0, 2**31))
    def run(data, window, seed):
        shape = window.shape
        # The other operand: the same shape with extent 1 on some axes, or without leading axes.
        other_shape = tuple(data.draw(st.sampled_from((1, n))) for n in shape)
        other_shape = other_shape[data.draw(st.integers(0, len(shape))) :]
        other = numbers(other_shape, "float32", seed + 1) + np.float32(0.5)
        axes = data.draw(st.permutations(range(other.ndim)))
        other = (
            np.ascontiguousarray(other.transpose(axes)).transpose(np.argsort(axes))
            if axes
            else other
        )
        values = numbers(window.base_shape, "float32", seed)
        ours, theirs = window.of(sw.array(values, device=device)), window.of(values)
        ranks = (ours.ndim, other.ndim)
        if ranks not in functions:
            functions[ranks] = compiled(lambda x, y: (x - y) * y, ("float32",) * 2, ranks, device)
        check(functions[ranks](ours, other), (theirs - other) * other)

    run()


def test_reused_buffers_fit_changing_shapes_and_layouts(device):
    f = compiled(lambda x, y: (x + y) * y, ("float32",) * 2, (2, 2), device)
    for seed, shape in enumerate([(4, 5), (4, 5), (5, 4), (1, 1), (0, 2), (4, 5)]):
        a, b = values("float32", shape, seed), values("float32", shape, seed + 100)
        check(f(a, b), (a + b) * b)
        check(f(a.T, b.T), (a.T + b.T) * b.T)
