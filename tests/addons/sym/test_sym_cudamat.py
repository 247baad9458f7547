# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Symbolic arrays as CUDAMat calls, on CUDAMat or its fake, against NumPy."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support import foreign

import spanwise as sw
from spanwise import sym


@pytest.fixture(scope="module")
def cudamat():
    try:
        return foreign.library("cudamat")
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))


def values(*shape):
    return np.random.default_rng(5).uniform(0.25, 2, shape).astype("float32")


#: name -> an expression of x and y of shape (3, 4), column of (3, 1) and row of (1, 4)
CALLS = {
    "arithmetic": lambda x, y, column, row: (x + y) * (x - y) / y,
    "numbers": lambda x, y, column, row: 1.0 - x * 2 + 3 / y - np.float32(0.5) + (x - 1) / 2,
    "numbers first": lambda x, y, column, row: 2 + x * np.float32(3) + 4.0 * y,
    "column": lambda x, y, column, row: (x + column) * column / column - column,
    "row": lambda x, y, column, row: (x + row) * row / row - row,
    "column first": lambda x, y, column, row: column - x + column / y + column * (column + x),
    "row first": lambda x, y, column, row: row - x + row / y + row * (row + x),
    "dot": lambda x, y, column, row: np.dot(x, y.T) @ x,
    "dot of transposed": lambda x, y, column, row: np.dot(x.T, y),
    "transposed": lambda x, y, column, row: x.T.T + y + np.transpose(x, (1, 0)).transpose(),
    "transposed result": lambda x, y, column, row: (x * 2).T,
    "transposed twice used": lambda x, y, column, row: x.T * 2 + x.T + np.dot(x.T, y) @ y.T,
    "functions": lambda x, y, column, row: np.exp(-x) + np.log(x) + np.sqrt(abs(y)) + np.tanh(x),
    "powers": lambda x, y, column, row: x**2 + np.square(x) + np.reciprocal(y) + np.power(x, y),
    "signs": lambda x, y, column, row: np.sign(x - y) + (+x),
    "extrema": lambda x, y, column, row: np.maximum(x, y) + np.minimum(1, x) + np.maximum(y, 0.5),
    "comparisons": lambda x, y, column, row: (x > y) * x + np.less(1, y) * x + (x == x) * y,
    "mask": lambda x, y, column, row: x < y,
    "where": lambda x, y, column, row: np.where(x > 1, x, 0.0) + np.where(x < y, y, x),
    "sums": lambda x, y, column, row: x.sum(0, keepdims=True) - np.mean(y, axis=-2, keepdims=True),
    "row sums": lambda x, y, column, row: np.max(x, axis=1, keepdims=True)
    + x.min(-1, keepdims=True),
    "all": lambda x, y, column, row: x.sum(keepdims=True) / y.mean(axis=(0, 1), keepdims=True),
    "softmax": lambda x, y, column, row: np.exp(x - x.max(axis=1, keepdims=True)),
    "broadcast": lambda x, y, column, row: np.broadcast_to(row, x.shape) + x,
    "leaf": lambda x, y, column, row: x,
}


@pytest.mark.parametrize("name", CALLS)
def test_cudamat_equals_numpy(cudamat, name):
    arrays = values(3, 4), values(3, 4) + 1, values(3, 1), values(1, 4)
    copies = [a.copy() for a in arrays]
    x = CALLS[name](*map(sym.array, arrays))
    expected = CALLS[name](*arrays)
    result = x.asCUDAMat()
    assert type(result) is cudamat.module.CUDAMatrix and result.shape == expected.shape
    np.testing.assert_allclose(result.asarray(), expected, rtol=2e-6, atol=2e-6)
    assert sym.check(x)["cudamat"] < 1e-5
    result.assign(7.0)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_cudamat_program_runs_outside_sym(cudamat):
    x, w = sym.array(values(3, 4), name="x"), sym.array(values(4, 2), name="w")
    h = 1.0 - np.dot(x, w)
    h.name = "h"
    code = h.cudamat_code()
    lines = [line.split("  #")[0].strip() for line in code.splitlines()[5:]]
    assert lines == [
        "t0 = cm.dot(x, w)",
        "h = t0.mult(-1.0, target=cm.empty((3, 2))).add(1.0)",
        "return h",
    ]
    names = {}
    exec(code, names)
    matrices = [cudamat.module.CUDAMatrix(a) for a in h.inputs().values()]
    result = names["program"](*matrices).asarray()
    np.testing.assert_allclose(result, h.asNumpy(), rtol=1e-6, atol=1e-6)


def test_matrices_of_cudamat_and_arrays_of_spanwise_are_inputs(cudamat):
    matrix = cudamat.module.CUDAMatrix(np.asfortranarray(values(3, 4)))
    array = sw.from_cudamat(matrix)
    x = sym.array(array) * 2.0
    np.testing.assert_array_equal(x.asCUDAMat().asarray(), values(3, 4) * 2)
    np.testing.assert_array_equal(x.asNumpy(), values(3, 4) * 2)
    np.testing.assert_array_equal(matrix.asarray(), values(3, 4))


def test_gradients_are_cudamat_programs(cudamat):
    x, w = sym.array(values(3, 4)), sym.array(values(4, 2))
    gradient = sym.grad(((np.dot(x, w) - 1.0) ** 2).sum(), w)
    assert sym.check(gradient)["cudamat"] < 1e-5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.sin(x), "CUDAMat: sin at .*: it has no such function; use asNumpy"),
        (lambda x: x.reshape(4, 3), "reshape at .*no such function"),
        (lambda x: x.sum(axis=0), r"sum at .*shape \(4,\); expected two axes.*keepdims=True"),
        (lambda x: x.var(axis=0, keepdims=True), "var at .*no such function"),
        (lambda x: x[:, :1] + x[:1], "getitem at"),
        (lambda x: x.mean(axis=0, keepdims=True) + x.mean(axis=1, keepdims=True), "add at .*both"),
        (lambda x: np.maximum(x, x.mean(axis=0, keepdims=True)), "maximum at .*does not broadcast"),
        (lambda x: x.astype("float64"), "astype at .* is float64, CUDAMat has float32 only"),
        (lambda x: x + 1j, "add at .* is complex64"),
        (lambda x: ~(x > 0), "invert at .* is bool"),
        (lambda x: x <= 1, "less_equal at"),
        (lambda x: x * [1, 2, 3, 4], "is float64"),
    ],
)
def test_unsupported_cudamat_operation_error_names_operation_and_line(cudamat, call, message):
    x = call(sym.array(values(3, 4)))
    with pytest.raises(sw.NotSupportedError, match=message) as error:
        x.asCUDAMat()
    assert f"{__file__}:" in str(error.value)
    assert "cudamat" not in sym.check(x)


def test_leaves_of_float64_need_a_cast(cudamat):
    wide = values(3, 4).astype("float64")
    with pytest.raises(sw.NotSupportedError, match=r'sym\.array\(x0, dtype="float32"\)'):
        (sym.array(wide) + 1).cudamat_code()
    x = sym.array(wide, dtype="float32") + 1
    np.testing.assert_allclose(x.asCUDAMat().asarray(), wide + 1, rtol=1e-6)


def test_spanwise_cudamat_takes_the_place_of_a_missing_cudamat_with_a_warning():
    program = """
        import sys, warnings
        import numpy as np
        from spanwise import sym
        sys.path[:] = [entry for entry in sys.path if "peers" not in entry]
        host = np.arange(6, dtype="float32").reshape(2, 3)
        x = np.dot(sym.array(host), sym.array(host).T) * 2 + 1
        assert list(sym.check(x)) == ["cuda"]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            results = [x.asCUDAMat() for _ in range(2)]
        for matrix in results:
            assert type(matrix).__module__ == "spanwise.cudamat", type(matrix)
            np.testing.assert_array_equal(matrix.asarray(), host @ host.T * 2 + 1)
        print([str(warning.message) for warning in seen], sorted(sym.check(x)))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == (
        "['asCUDAMat: CUDAMat is not installed; spanwise.cudamat takes its place'] "
        "['cuda', 'cudamat']\n"
    )
