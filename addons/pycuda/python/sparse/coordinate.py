# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.sparse.coordinate``."""

import numpy as np

import spanwise as sw

__all__ = ["CoordinateSpMV"]

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
