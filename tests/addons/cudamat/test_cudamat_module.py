# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.cudamat: CUDAMat's functions against NumPy in double precision."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from addons.theano.runner import run_script

from spanwise import cudamat as cm

pytest.importorskip("scipy")

import scipy.signal
import scipy.special

R = np.random.default_rng(12)


pytestmark = pytest.mark.usefixtures("default_device")


def host(*shape):
    return R.uniform(-2, 2, shape).astype(np.float32)


def close(matrix, expected, rtol=2e-6, atol=2e-6):
    np.testing.assert_allclose(matrix.asarray(), expected, rtol, atol)


def poisoned(*shape):
    return cm.empty(shape).assign(float("nan"))


BINARY = {
    "add": np.add, "subtract": np.subtract, "mult": np.multiply, "divide": np.divide,
    "less_than": np.less, "greater_than": np.greater, "equals": np.equal,
    "minimum": np.minimum, "maximum": np.maximum,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_binary_methods_write_to_self_or_target(name):
    a, b = host(5, 7), host(5, 7)
    b[2] = a[2]
    for other, value in ((cm.CUDAMatrix(b), b), (0.5, 0.5), (3, 3)):
        expected = BINARY[name](a.astype("f8"), value)
        x, target = cm.CUDAMatrix(a), poisoned(5, 7)
        assert getattr(x, name)(other, target=target) is target
        close(target, expected)
        close(x, a)
        assert getattr(x, name)(other) is x
        close(x, expected)


FUNCTIONS = {
    "abs": np.abs,
    "exp": np.exp,
    "gamma": scipy.special.gamma,
    "lgamma": scipy.special.gammaln,
    "log": np.log,
    "log_1_plus_exp": lambda x: np.logaddexp(0, x),
    "sigmoid": scipy.special.expit,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_elements(name):
    a = host(4, 6)
    a = np.abs(a) + 0.1 if name in ("log", "sqrt", "gamma", "lgamma") else a
    x, target = cm.CUDAMatrix(a), poisoned(4, 6)
    expected = FUNCTIONS[name](a.astype("f8"))
    assert getattr(cm, name)(x, target) is target
    close(target, expected, 1e-5, 1e-5)
    assert getattr(cm, name)(x) is x
    close(x, expected, 1e-5, 1e-5)


def test_other_functions_of_elements():
    a, b = host(4, 6), host(4, 6)
    x, y = cm.CUDAMatrix(a), cm.CUDAMatrix(b)
    close(x.sign(), np.sign(a))
    close(x.copy().reciprocal(), 1 / a.astype("f8"))
    close(cm.soft_threshold(x.copy(), 0.5), np.sign(a) * np.maximum(np.abs(a) - 0.5, 0))
    positive = cm.CUDAMatrix(np.abs(a))
    close(cm.pow(positive, 1.5, poisoned(4, 6)), np.abs(a).astype("f8") ** 1.5, 1e-5)
    close(cm.pow(positive, y), np.abs(a).astype("f8") ** b, 1e-5)
    close(cm.where(x.copy().less_than(0), y, x), np.where(a < 0, b, a))
    close(x.copy().add_mult(y, 2.5), a + 2.5 * b)
    close(x.copy().subtract_mult(y), a - b)
    cm.learn.mult_by_sigmoid_deriv(x, y)
    close(x, a * b * (1 - b))
    assert y.euclid_norm() == pytest.approx(np.linalg.norm(b), rel=1e-6)
    assert y.manhattan_norm() == pytest.approx(np.abs(b).sum(), rel=1e-6)
    assert cm.vdot(y, y) == pytest.approx((b**2).sum(), rel=1e-5)
    assert y.allfinite() and not poisoned(2, 2).allfinite()


def test_vectors_in_all_columns_and_rows():
    a, column, row = host(5, 3), host(5, 1), host(1, 3)
    x = cm.CUDAMatrix(a)
    for name, vector, expected in (
        ("add_col_vec", column, a + column),
        ("add_row_vec", row, a + row),
        ("mult_by_col", column, a * column),
        ("mult_by_row", row, a * row),
        ("div_by_col", column, a / column.astype("f8")),
        ("div_by_row", row, a / row.astype("f8")),
    ):
        v = cm.CUDAMatrix(vector)
        close(getattr(x, name)(v, target=poisoned(5, 3)), expected)
        close(getattr(x.copy(), name)(v), expected)
        with pytest.raises(cm.CUDAMatException, match=r"Incompatible matrix dimensions\."):
            getattr(x, name)(cm.CUDAMatrix(vector.T.copy()))
    close(x.copy().add_col_mult(cm.CUDAMatrix(column), 3.0), a + 3 * column)


@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_along_an_axis(axis):
    a = host(6, 4)
    x, wide = cm.CUDAMatrix(a), a.astype("f8")
    shape = (1, 4) if axis == 0 else (6, 1)
    keep = {"axis": axis, "keepdims": True}
    for name in ("sum", "mean", "min", "max", "argmin", "argmax"):
        expected = getattr(np, name)(wide, **keep)
        close(getattr(x, name)(axis), expected)
        close(getattr(x, name)(axis, target=poisoned(*shape)), expected)
    close(cm.sum(x, axis, mult=0.5), wide.sum(**keep) / 2)
    close(cm.sum(x.T, axis), wide.T.sum(**keep))
    close(
        cm.CUDAMatrix(np.ones(shape)).add_sums(x, axis, mult=3.0, beta=2.0),
        2 + 3 * wide.sum(**keep),
    )


def test_products_with_transposed_operands_and_factors():
    a, b, c = host(5, 7), host(7, 3), host(5, 3)
    x, y, expected = cm.CUDAMatrix(a), cm.CUDAMatrix(b), a.astype("f8") @ b
    close(cm.dot(x, y), expected)
    close(x.dot(y, target=poisoned(5, 3)), expected)
    close(cm.dot(y.T, x.T), expected.T)
    close(cm.dot(x, y, cm.CUDAMatrix(c), beta=0.5, alpha=2.0), 0.5 * c + 2 * expected)
    close(cm.CUDAMatrix(c).add_dot(x, y), c + expected)
    close(cm.CUDAMatrix(c).subtract_dot(x, y, mult=2.0, beta=3.0), 3 * c - 2 * expected)
    close(cm.dot(x, y, poisoned(5, 3), beta=0, alpha=2.0), 2 * expected)
    x.set_trans(True)
    close(cm.dot(y.T, x), expected.T)
    with pytest.raises(cm.CUDAMatException, match=r"Incompatible transposedness\."):
        x.add(cm.CUDAMatrix(a))
    for bad in (lambda: cm.dot(y, y), lambda: cm.dot(x.T, y, poisoned(3, 3)), lambda: y.add(x)):
        with pytest.raises(cm.CUDAMatException, match=r"Incompatible matrix dimensions\."):
            bad()


def test_parts_share_memory_and_rows_are_copied():
    a = host(6, 5)
    x = cm.CUDAMatrix(a)
    part = x.slice(1, 3)
    part.assign(7)
    a[:, 1:3] = 7
    close(x, a)
    rows = x.get_row_slice(2, 4)
    rows.assign(9)
    close(x, a)
    x.set_row_slice(0, 2, rows)
    a[:2] = 9
    close(x, a)
    x.set_col_slice(3, 5, x.get_col_slice(0, 2, target=poisoned(6, 2)))
    a[:, 3:5] = a[:, :2]
    close(x, a)
    close(x.transpose(), a.T)
    close(cm.CUDAMatrix(a[:, :1]).slice(2, 5), a[2:5, :1])
    flat = cm.CUDAMatrix(a)
    assert flat.reshape((3, 10)) is flat and flat.shape == (3, 10)
    close(flat, a.reshape((3, 10), order="F"))
    for bad in (lambda: x.slice(3, 3), lambda: x.slice(0, 6), lambda: x.reshape((4, 4)),
                lambda: x.get_row_slice(2, 7), lambda: x.assign(cm.empty((2, 2)))):  # fmt: skip
        with pytest.raises(cm.CUDAMatException, match=r"Incompatible matrix dimensions\."):
            bad()


def test_columns_by_number():
    a = host(4, 6)
    x = cm.CUDAMatrix(a)
    numbers = cm.CUDAMatrix(np.array([[5.0, 0.0, -2.0, 6.0]]))
    got = x.select_columns(numbers, poisoned(4, 4)).asarray()
    np.testing.assert_array_equal(got[:, :3], a[:, [5, 0, -2]])
    assert np.isnan(got[:, 3]).all()
    b = host(4, 2)
    x.set_selected_columns(cm.CUDAMatrix(np.array([[1.0, -1.0]])), cm.CUDAMatrix(b))
    a[:, [1, -1]] = b
    close(x, a)
    with pytest.raises(cm.CUDAMatException, match="out of range"):
        x.set_selected_columns(numbers, cm.empty((4, 4)))


def test_correlation_with_a_centred_kernel():
    a, k = host(9, 7), host(5, 3)
    expected = scipy.signal.correlate2d(a.astype("f8"), k, "same")
    close(cm.correlate(cm.CUDAMatrix(a), cm.CUDAMatrix(k), poisoned(9, 7)), expected, 1e-5, 1e-5)


def test_host_and_device_memory_are_copied_by_calls_only():
    a = np.asfortranarray(host(3, 4))
    x = cm.CUDAMatrix(a, copy_to_device=False)
    x.assign(1.0)
    assert (x.numpy_array == a).all()
    x.copy_to_host()
    assert (x.numpy_array == 1).all()
    x.numpy_array[...] = 5
    x.copy_to_device()
    close(x.copy(), np.full((3, 4), 5))
    x.free_device_memory()
    with pytest.raises(cm.CUDAMatException, match=r"Matrix is not in device memory\."):
        x.add(1)
    with pytest.raises(ValueError, match="must be of type CUDAMatrix, int, or float"):
        cm.empty((2, 2)).add("1")
    with pytest.warns(DeprecationWarning, match="deprecated function mult_by_scalar"):
        close(cm.CUDAMatrix(a).mult_by_scalar(2.0), 2 * a)


def test_random_numbers_are_in_range_and_repeat_with_the_seed():
    cm.CUDAMatrix.init_random(3)
    x = cm.empty((300, 100)).fill_with_rand().asarray()
    assert x.min() > 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.01
    y = cm.empty((300, 100)).fill_with_randn().asarray()
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02
    cm.CUDAMatrix.init_random(3)
    assert (cm.empty((300, 100)).fill_with_rand().asarray() == x).all()


SCRIPT = """
    import numpy as np
    import cudamat as cm
    from cudamat import learn
    import theano.misc.cudamat_utils as utils
    cm.cublas_init()
    cm.CUDAMatrix.init_random(42)
    a = cm.CUDAMatrix(np.array([[1., 2.], [3., 4.]]))
    b = cm.empty((2, 2))
    cm.dot(a, a.T, target=b)
    b.add(1).mult(2)
    print b.asarray()
    import spanwise as sw
    shared = sw.asarray(b)
    shared[0, 0] = -1
    print b.asarray()[0, 0], shared.strides
    c = sw.to_cudamat(sw.ones((3, 2), dtype="float32").T)
    c.add(1)
    print c.asarray().sum(), utils.cudamat_available
    cm.shutdown()
"""


def test_scripts_run_where_cudamat_is_missing(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", SCRIPT)
    lines = printed.splitlines()
    assert lines == ["[[ 12.  24.]", " [ 24.  52.]]", "-1.0 (4, 8)", "12.0 True"]


def test_install_leaves_an_installed_cudamat_alone(tmp_path):
    (tmp_path / "cudamat.py").write_text("real = 1")
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import spanwise.cudamat.install, cudamat
        print(cudamat.real)
    """
    run = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "1\n"
