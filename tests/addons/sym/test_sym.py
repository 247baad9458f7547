# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.sym: expressions in NumPy notation have NumPy's shape, dtype and values in all targets."""

import numpy as np
import pytest

import spanwise as sw
from spanwise import sym

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

UNARY = [
    "abs",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "arctan2",
    "copysign",
    "divide",
    "equal",
    "float_power",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "not_equal",
    "power",
    "remainder",
    "subtract",
]
#: name -> an expression of x, an array of NumPy or a symbolic one
CALLS = {
    "sum": lambda x: np.sum(x, axis=0),
    "sum of all": lambda x: x.sum(),
    "sum, dtype": lambda x: x.sum(axis=(0, 1), dtype="float32"),
    "prod": lambda x: np.prod(x, axis=-1, keepdims=True),
    "mean": lambda x: np.mean(x, axis=1),
    "max": lambda x: x.max(axis=0),
    "amin": lambda x: np.amin(x),
    "var": lambda x: np.var(x, axis=0, ddof=1),
    "std": lambda x: x.std(),
    "any": lambda x: np.any(x > 0.5, axis=0),
    "all": lambda x: (x > -2).all(),
    "argmax": lambda x: np.argmax(x, axis=1),
    "argmin": lambda x: x.argmin(),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumprod": lambda x: x.cumprod(axis=0),
    "ptp": lambda x: np.ptp(x, axis=0),
    "count_nonzero": lambda x: np.count_nonzero(x > 0, axis=1),
    "nansum": lambda x: np.nansum(x),
    "add.reduce": lambda x: np.add.reduce(x),
    "dot": lambda x: np.dot(x, x.T),
    "matmul": lambda x: x.T @ x,
    "where": lambda x: np.where(x > 0, x, 0.0),
    "clip": lambda x: np.clip(x, -0.5, a_max=0.5),
    "clip method": lambda x: x.clip(0, None),
    "round": lambda x: np.round(x, 1),
    "take": lambda x: np.take(x, [1, 0, 1], axis=0),
    "astype": lambda x: x.astype(np.int32) // 2,
    "reshape": lambda x: x.reshape(-1, 2),
    "reshape, np": lambda x: np.reshape(x, (2, -1)),
    "ravel": lambda x: np.ravel(x)[1:],
    "flatten": lambda x: x.T.flatten(),
    "transpose": lambda x: np.transpose(x, (1, 0)),
    "transpose method": lambda x: x.transpose(1, 0) + x.transpose(),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x[None], 0, 2),
    "squeeze": lambda x: np.squeeze(x[:, None]),
    "expand_dims": lambda x: np.expand_dims(x, 1) * x,
    "broadcast_to": lambda x: np.broadcast_to(x, (3, *x.shape)),
    "flip": lambda x: np.flip(x, 0),
    "rot90": lambda x: np.rot90(x),
    "atleast_3d": lambda x: np.atleast_3d(x),
    "concatenate": lambda x: np.concatenate([x, x[:1], np.ones((2, x.shape[1]))]),
    "stack": lambda x: np.stack((x, -x), axis=1),
    "vstack": lambda x: np.vstack([x, x[0]]),
    "hstack": lambda x: np.hstack([x, x]),
    "column_stack": lambda x: np.column_stack([x, x[:, 0]]),
    "index": lambda x: x[-1],
    "slices": lambda x: x[::-1, 1::2],
    "newaxis": lambda x: x[..., None, 0],
    "index array": lambda x: x[np.array([1, 0, 0])],
    "list of indices": lambda x: x[:, [0, 1]],
    "iteration": lambda x: sum(row * i for i, row in enumerate(x)),
    "operators": lambda x: 2 - x * 3.0 / (1 + x**2) // 0.5 % 4 - abs(-x) + (+x),
    "power": lambda x: (-2.0) ** np.floor(x) + 2**x,
    "comparisons": lambda x: (x < 0) | ~(x >= 0.5) & (x != 1) ^ (x == 2),
    "NumPy scalar": lambda x: np.float32(0.1) * x + np.float64(2),
    "infinity": lambda x: np.minimum(x, np.inf) + np.where(x > 0, -np.inf, 1.0),
    "list operand": lambda x: x[:, :2] + [1, 2],
    "numpy.shape": lambda x: x * np.shape(x)[0] + np.ndim(x) + np.size(x) + len(x),
}


def numbers(*shape, dtype="float64"):
    return np.random.default_rng(7).uniform(-2, 2, shape).astype(dtype)


def executed(x, target="numpy"):
    """The result of the program that sym generates for `target`, called with the inputs of `x`."""
    names = {}
    exec(x.commands(target), names)
    convert = sw.asarray if target == "spanwise" else lambda a: sw.to_numpy(a, copyif=True)
    return names["program"](**{name: convert(value) for name, value in x.inputs().items()})


def assert_same(x, expected):
    """All ways to compute `x` give `expected`, with its shape and dtype."""
    expected = np.asarray(expected)
    assert type(x) is sym.SymArray
    assert (x.shape, x.dtype) == (expected.shape, expected.dtype)
    assert (x.ndim, x.size) == (expected.ndim, expected.size)
    got = x.asNumpy()
    assert type(got) is np.ndarray and got.dtype == expected.dtype and got.flags.writeable
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(executed(x), expected)
    tolerance = {"float16": 1e-3, "float32": 1e-5, "complex64": 1e-5}.get(x.dtype.name, 1e-12)
    for result in (x.asCUDA(), sw.asarray(executed(x, "spanwise"))):
        assert type(result) is sw.Array
        result = result.numpy()
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_calls_match_numpy(name, dtype):
    values = numbers(3, 4, dtype=dtype)
    assert_same(CALLS[name](sym.array(values)), CALLS[name](values))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
@hypothesis.settings(max_examples=6, deadline=None)
@hypothesis.given(
    shapes=st.sampled_from(
        [((3, 4), (4,)), ((), (2,)), ((2, 1), (1, 3)), ((0, 2), (2,)), ((5,), ())]
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_elementwise_functions_match_numpy(name, shapes, seed):
    rng = np.random.default_rng(seed)
    x, y = (np.asarray(rng.normal(0, 2, shape)) for shape in shapes)
    function = getattr(np, name)
    args = (x,) if name in UNARY else (x, y)
    recorded = function(*(sym.array(a) for a in args))
    assert_same(recorded, function(*args))
    assert getattr(sym, name)(*args).shape == recorded.shape


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(
    steps=st.lists(st.sampled_from(["exp", "T", "add", "mul", "slice", "sum", "dot"]), max_size=12),
    rows=st.integers(1, 5),
    columns=st.integers(1, 5),
)
def test_random_expressions_match_numpy(steps, rows, columns):
    def apply(x):
        for step in steps:
            rows, columns = x.shape
            if step == "exp":
                x = np.exp(-abs(x))
            elif step == "add":
                x = x + np.arange(columns) / 8
            elif step == "mul":
                x = x * x.mean(axis=1, keepdims=True)
            elif step == "slice":
                x = x[::-1, : max(1, columns - 1)]
            elif step == "sum":
                x = x + x.sum(axis=0) / rows
            else:
                x = x.T if step == "T" else np.dot(x, x.T) / columns
        return x

    values = numbers(rows, columns)
    assert_same(apply(sym.array(values)), apply(values))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "complex64"])
def test_dtypes_match_numpy(dtype):
    values = (numbers(3, 4) * 4).astype(dtype)
    for call in (
        *(lambda x: x + 1, lambda x: x * np.float32(2), lambda x: x.sum(axis=0)),
        *(lambda x: x / 2, lambda x: x == 1, lambda x: np.concatenate([x, np.ones((1, 4), "f4")])),
    ):
        assert_same(call(sym.array(values)), call(values))
    assert sym.array(values, dtype="float32").dtype == np.float32
    assert_same(sym.array(values, dtype="complex128") + 1, values.astype("complex128") + 1)


def test_sigmoid_and_softplus_are_written_in_numpy():
    values = numbers(3, 4)
    assert "1 / (1 + np.exp(-x0))" in sym.sigmoid(values).numpy_code()
    expected = 1 / (1 + np.exp(-values))
    np.testing.assert_allclose(sym.sigmoid(values).asCUDA().numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(sym.softplus(values).asNumpy(), np.log1p(np.exp(values)), rtol=1e-12)
