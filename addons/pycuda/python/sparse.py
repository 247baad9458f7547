# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of ``pycuda.sparse``: products of sparse matrices with vectors, and conjugate gradients."""

import numpy as np

import spanwise as sw
from spanwise.compat import alias_modules

from . import gpuarray

__all__ = []
__path__ = []  # a package in PyCUDA

# ---- pycuda.sparse.operator: operators with a dtype, a shape and a call ----


class OperatorBase:
    """Base class of operators."""


class IdentityOperator(OperatorBase):
    def __init__(self, dtype, n):
        self.dtype, self.shape = dtype, (n, n)

    def __call__(self, operand):
        return operand


class DiagonalPreconditioner(OperatorBase):
    """Multiplies with a vector, the diagonal."""

    def __init__(self, diagonal):
        self.diagonal, self.dtype = diagonal, diagonal.dtype
        self.shape = diagonal.shape * 2

    def __call__(self, operand):
        return self.diagonal * operand


# ---- pycuda.sparse.coordinate and packeted ----

_SOURCE = """
template <class T>
__global__ void add_product(long n, const int *starts, const int *columns, const T *values,
                            const T *x, T *y) {
  for (long row = blockIdx.x * (long)blockDim.x + threadIdx.x; row < n;
       row += (long)gridDim.x * blockDim.x) {
    T sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] += sum;
  }
}
"""
_THREADS = 128


class CoordinateSpMV:
    """The product of a matrix of SciPy with vectors, float32 or float64. The matrix is kept in CSR
    format on the default device; a thread adds up one row. Raises TypeError for other dtypes."""

    def __init__(self, mat, dtype):
        from scipy.sparse import csr_matrix

        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise TypeError(f"{type(self).__name__}: expected float32 or float64, got {self.dtype}")
        rows = csr_matrix(mat, dtype=self.dtype)
        self.shape, self.nnz = rows.shape, rows.nnz
        csr = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
        self._csr = [sw.array(values, device=sw.default_device()) for values in csr]
        name = f"add_product<{'float' if self.dtype == np.float32 else 'double'}>"
        self._kernel = sw.SourceModule(_SOURCE, names=[name]).get_function(name)

    def __call__(self, x, y=None):
        """A times the GPUArray `x` of one axis, added to `y`, by default zeros; returns `y`. Raises
        ValueError for another length or dtype."""
        if x.shape != self.shape[1:] or x.dtype != self.dtype:
            raise ValueError(
                f"{type(self).__name__}: expected {self.dtype} of shape {self.shape[1:]}, got {x.dtype} of shape {x.shape}"
            )
        if y is None:
            y = type(x)(self.shape[:1], self.dtype, x.allocator).fill(0)
        n = self.shape[0]
        grid = min(-(-n // _THREADS), 65535)
        if n:
            self._kernel(n, *self._csr, x.array, y.array, block=_THREADS, grid=grid)
        return y


class PacketedSpMV(CoordinateSpMV):
    """As CoordinateSpMV. PyCUDA reorders the rows into packets, by a graph of `mat` that
    `is_symmetric` describes; here they keep their order, and permute() returns the same array."""

    def __init__(self, mat, is_symmetric, dtype):
        super().__init__(mat, dtype)

    def permute(self, x):
        return x

    unpermute = permute


# ---- pycuda.sparse.cg ----

_RESIDUAL_INTERVAL = 50  # iterations after which the residual is computed from x


class ConvergenceError(RuntimeError):
    """The residual did not become as small as required."""


def solve_pkt_with_cg(
    pkt_spmv, b, precon=None, x=None, tol=1e-7, max_iterations=None, debug=False,
    pagelocked_allocator=None,
):  # fmt: skip
    """(x, iterations, how often the residual was computed from x) of the preconditioned conjugate
    gradients for a symmetric positive definite matrix (J. R. Shewchuk, An Introduction to the
    Conjugate Gradient Method, 1994, B3), from zeros or `x`.

    It ends when the residual's product with the preconditioned residual is tol**2 of the first.
    `pagelocked_allocator` is accepted and ignored: the host reads one number an iteration. Raises
    ConvergenceError after `max_iterations`, by default 10 for each row, and at least 61.
    """
    n = pkt_spmv.shape[0]
    precon = precon or IdentityOperator(pkt_spmv.dtype, n)
    x = gpuarray.zeros(n, pkt_spmv.dtype, b.allocator) if x is None else pkt_spmv.permute(x).copy()
    b = pkt_spmv.permute(b)
    residual = b - pkt_spmv(x)
    direction = precon(residual).copy()
    first = delta = float(gpuarray.dot(residual, direction).get())
    recomputed = 0
    for iteration in range(max(10 * n, 61) if max_iterations is None else max_iterations):
        if abs(delta) <= tol * tol * abs(first):
            return pkt_spmv.unpermute(x), iteration, recomputed
        product = pkt_spmv(direction)
        alpha = delta / float(gpuarray.dot(direction, product).get())
        x += alpha * direction
        if iteration % _RESIDUAL_INTERVAL == 0:
            residual = b - pkt_spmv(x)
            recomputed += 1
        else:
            residual -= alpha * product
        scaled = precon(residual)
        previous, delta = delta, float(gpuarray.dot(residual, scaled).get())
        direction = scaled + (delta / previous) * direction
        if debug:
            print(f"cg: iteration {iteration}, product {delta:g} of {first:g}")
    raise ConvergenceError(f"cg failed to converge: the product is {delta:g}, at first {first:g}")


__getattr__ = alias_modules(
    __name__,
    {
        "cg": {"": "ConvergenceError solve_pkt_with_cg"},
        "coordinate": {"": "CoordinateSpMV"},
        "operator": {"": "DiagonalPreconditioner IdentityOperator OperatorBase"},
        "packeted": {"": "PacketedSpMV"},
    },
)("")
