# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda.sparse against SciPy."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.pycuda import gpuarray
from spanwise.pycuda.sparse.cg import ConvergenceError, solve_pkt_with_cg
from spanwise.pycuda.sparse.coordinate import CoordinateSpMV
from spanwise.pycuda.sparse.operator import DiagonalPreconditioner, IdentityOperator
from spanwise.pycuda.sparse.packeted import PacketedSpMV

sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")


@pytest.fixture(autouse=True)
def on_device(device):
    with sw.config.change(device=str(device)):
        yield


def definite(n, dtype):
    """A random symmetric positive definite matrix whose rows have different numbers of elements."""
    factor = sparse.random(n, n, 0.03, format="csr", random_state=np.random.default_rng())
    return (factor @ factor.T + sparse.eye(n)).astype(dtype).tocsr()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(50, 70), (400, 3), (1, 1)])
def test_products_match_scipy(dtype, shape):
    mat = sparse.random(*shape, 0.1, random_state=np.random.default_rng())
    x = np.random.default_rng().standard_normal(shape[1]).astype(dtype)
    product = CoordinateSpMV(mat, dtype)
    expected = mat.toarray().astype(dtype).astype("float64") @ x
    y = product(gpuarray.to_gpu(x))
    assert y.dtype == dtype
    np.testing.assert_allclose(y.get(), expected, rtol=1e-5, atol=1e-5)
    assert product(gpuarray.to_gpu(x), y) is y
    np.testing.assert_allclose(y.get(), 2 * expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_conjugate_gradients_solve(dtype, preconditioned):
    mat = definite(200, dtype)
    b = np.random.default_rng().standard_normal(200).astype(dtype)
    diagonal = gpuarray.to_gpu((1 / mat.diagonal()).astype(dtype))
    precon = DiagonalPreconditioner(diagonal) if preconditioned else None
    product = PacketedSpMV(mat, True, dtype)
    tol = 1e-5 if dtype == "float32" else 1e-10
    x, iterations, recomputed = solve_pkt_with_cg(product, gpuarray.to_gpu(b), precon, tol=tol)
    assert 0 < recomputed <= iterations < 400
    residual = np.linalg.norm(mat.astype("float64") @ x.get() - b) / np.linalg.norm(b)
    assert residual < 20 * tol
    start = gpuarray.to_gpu(x.get())
    _, from_solution, _ = solve_pkt_with_cg(product, gpuarray.to_gpu(b), precon, start, tol=0.5)
    assert from_solution < iterations and np.array_equal(start.get(), x.get())


def test_unsuitable_arguments_raise():
    mat = definite(20, "float32")
    with pytest.raises(TypeError, match="expected float32 or float64"):
        CoordinateSpMV(mat, "complex64")
    product = PacketedSpMV(mat, True, "float32")
    with pytest.raises(ValueError, match=r"expected float32 of shape \(20,\)"):
        product(gpuarray.zeros(21, np.float32))
    with pytest.raises(ConvergenceError, match="converge"):
        solve_pkt_with_cg(product, gpuarray.to_gpu(np.ones(20, "f4")), max_iterations=1, tol=1e-12)


def test_identity_operator_returns_its_operand():
    identity = IdentityOperator(np.float32, 4)
    assert identity.shape == (4, 4) and identity(5) == 5
