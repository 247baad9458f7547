# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.nlinalg``: linear algebra of matrices, by the functions of spanwise.linalg."""

from __future__ import annotations

from typing import Any

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable
from spanwise.tensor import diag, diagonal, trace

from .._ops import ArrayOp, tensor_of
from .basic import as_tensor_variable, norm as _norm

__all__ = [
    "AllocDiag", "ExtractDiag", "MatrixInverse", "MatrixPinv", "alloc_diag", "cholesky", "det", "diag",
    "eig", "eigh", "extract_diag", "lstsq", "matrix_dot", "matrix_inverse", "matrix_power", "norm", "pinv",
    "qr", "svd", "tensorinv", "tensorsolve", "trace",
]  # fmt: skip


def _real(dtype: Any) -> Any:
    return {"complex64": "float32", "complex128": "float64"}.get(str(dtype), dtype)


def _inexact(x: Any) -> Any:
    return x.type.dtype if x.type.dtype.kind in "fc" else "float64"


def _matrix(x: Any) -> Any:
    return tensor_of(_inexact(x), 2, x)


def _inverse_slope(inputs: Any, outputs: Any, slopes: Any) -> Any:
    inverse = outputs[0]
    return [-T.dot(inverse.T, T.dot(slopes[0], inverse.T))]


_inverse = ArrayOp(
    "MatrixInverse", lambda x: sw.linalg.inv(x), lambda x: _matrix(x), _inverse_slope
)
_det = ArrayOp(
    "Det",
    lambda x: sw.linalg.det(x),
    lambda x: tensor_of(_inexact(x), 0, x),
    lambda inputs, outputs, slopes: [slopes[0] * outputs[0] * matrix_inverse(inputs[0]).T],
)


def matrix_inverse(x: Any) -> Variable:
    """The inverse of a square matrix; a singular one raises LinAlgError when the function runs."""
    return _inverse(as_tensor_variable(x))


def MatrixInverse() -> Any:  # noqa: N802
    """The op of matrix_inverse()."""
    return matrix_inverse


def det(x: Any) -> Variable:
    """The determinant of a square matrix."""
    return _det(as_tensor_variable(x))


def pinv(x: Any) -> Variable:
    """The pseudo-inverse of a matrix, without a derivative."""
    return ArrayOp("MatrixPinv", lambda a: sw.linalg.pinv(a), _matrix)(as_tensor_variable(x))


def MatrixPinv() -> Any:  # noqa: N802
    """The op of pinv()."""
    return pinv


def matrix_dot(*matrices: Any) -> Variable:
    """The product of all matrices."""
    result = as_tensor_variable(matrices[0])
    for matrix in matrices[1:]:
        result = T.dot(result, as_tensor_variable(matrix))
    return result


def matrix_power(matrix: Any, n: int) -> Variable:
    """`matrix` to the power of the integer n; for n < 0 of the inverse."""
    matrix = as_tensor_variable(matrix)
    if n < 0:
        return matrix_power(matrix_inverse(matrix), -n)
    return matrix_dot(*[matrix] * n) if n else T.identity_like(matrix)


def alloc_diag(x: Any) -> Variable:
    """The square matrix with the vector `x` on its diagonal."""
    return diag(as_tensor_variable(x))


def extract_diag(x: Any) -> Variable:
    """The diagonal of a matrix."""
    return diagonal(as_tensor_variable(x))


def AllocDiag() -> Any:  # noqa: N802
    """The op of alloc_diag()."""
    return alloc_diag


def ExtractDiag(view: bool = False) -> Any:  # noqa: N802
    """The op of extract_diag()."""
    return extract_diag


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """[U, s, V^H], or s without compute_uv; without a derivative."""
    a = as_tensor_variable(a)
    values = tensor_of(_real(_inexact(a)), 1, a)
    if not compute_uv:
        return ArrayOp(
            "SVD", lambda x: sw.linalg.svd(x, compute_uv=False), lambda x: values, settings=0
        )(a)
    return ArrayOp(
        "SVD",
        lambda x: tuple(sw.linalg.svd(x, full_matrices)),
        lambda x: [_matrix(x), values, _matrix(x)],
        settings=(1, full_matrices),
    )(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """[Q, R], or R for the mode "r"; without a derivative."""
    mode = {"full": "reduced", "economic": "reduced"}.get(mode, mode)
    if mode == "r":
        return ArrayOp("QRIncomplete", lambda x: sw.linalg.qr(x, mode), _matrix)(
            as_tensor_variable(a)
        )
    return ArrayOp(
        "QRFull",
        lambda x: tuple(sw.linalg.qr(x, mode)),
        lambda x: [_matrix(x)] * 2,
        settings=mode,
    )(as_tensor_variable(a))


def eig(a: Any) -> Any:
    """[eigenvalues, eigenvectors] of a square matrix whose eigenvalues are real: the results are of its
    dtype; others raise ValueError when the function runs. Without a derivative."""

    def compute(x: Any) -> Any:
        results = sw.linalg.eig(x)
        if x.dtype.kind == "c":
            return tuple(results)
        if sw.any(results.eigenvalues.imag != 0):
            raise ValueError("eig: the eigenvalues are complex; give the matrix a complex dtype")
        return tuple(y.real for y in results)

    types = lambda x: [tensor_of(_inexact(x), 1, x), _matrix(x)]  # noqa: E731
    return ArrayOp("Eig", compute, types)(as_tensor_variable(a))


def eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    """[eigenvalues, eigenvectors] of a symmetric matrix, of which one triangle is read."""

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        values, vectors = outputs
        gaps = values.dimshuffle("x", 0) - values.dimshuffle(0, "x")
        weights = T.where(T.eq(gaps, 0), 0.0, 1.0 / T.where(T.eq(gaps, 0), 1.0, gaps))
        by_values, by_vectors = slopes
        inner = T.zeros_like(vectors)
        if isinstance(by_vectors, Variable):
            inner = weights * T.dot(vectors.T, by_vectors)
        if isinstance(by_values, Variable):
            inner = inner + diag(by_values)
        full = T.dot(vectors, T.dot(inner, vectors.T))
        part = T.tril if UPLO == "L" else T.triu
        return [part(full) + part(full.T) - diag(diagonal(full))]

    return ArrayOp(
        "Eigh",
        lambda x: tuple(sw.linalg.eigh(x, UPLO)),
        lambda x: [tensor_of(_inexact(x), 1, x), _matrix(x)],
        gradient,
        settings=UPLO,
    )(as_tensor_variable(a))


def lstsq(a: Any, b: Any, rcond: Any = -1) -> Any:
    """numpy.linalg.lstsq: [solution, residuals, rank, singular values]; without a derivative."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    dtype = _inexact(a)
    types = [tensor_of(dtype, b.ndim, a), tensor_of(dtype, 1, a), tensor_of("int64", 0, a), tensor_of(dtype, 1, a)]  # fmt: skip
    return ArrayOp(
        "lstsq",
        lambda x, y: tuple(sw.linalg.lstsq(x, y, rcond)),
        lambda x, y: types,
        settings=str(rcond),
    )(a, b)


def cholesky(x: Any) -> Variable:
    """The lower factor L of a positive definite matrix, x = L L^T."""

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        # Iain Murray, "Differentiation of the Cholesky decomposition", 2016, (9).
        factor, inverse = outputs[0], matrix_inverse(outputs[0])
        middle = T.tril(T.dot(factor.T, slopes[0]))
        middle = middle - diag(diagonal(middle)) / 2
        full = matrix_dot(inverse.T, middle, inverse)
        return [T.tril(full + full.T) - diag(diagonal(full))]

    return ArrayOp("Cholesky", lambda a: sw.linalg.cholesky(a), _matrix, gradient)(
        as_tensor_variable(x)
    )


def tensorinv(a: Any, ind: int = 2) -> Variable:
    """numpy.linalg.tensorinv, without a derivative."""
    a = as_tensor_variable(a)
    return ArrayOp(
        "TensorInv", lambda x: sw.linalg.tensorinv(x, ind), lambda x: tensor_of(_inexact(x), x.ndim, x), settings=ind
    )(a)  # fmt: skip


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Variable:
    """numpy.linalg.tensorsolve, without a derivative."""
    return ArrayOp(
        "TensorSolve",
        lambda x, y: sw.linalg.tensorsolve(x, y, axes),
        lambda x, y: tensor_of(_inexact(x), x.ndim - y.ndim, x),
        settings=str(axes),
    )(as_tensor_variable(a), as_tensor_variable(b))


def norm(x: Any, ord: Any) -> Variable:
    """The norm of a vector or of a matrix: of a matrix "fro", "inf", "-inf", 1, -1, 2, -2 and
    "nuc"."""
    x = as_tensor_variable(x)
    if x.ndim != 2:
        return _norm(x, 2 if ord is None else ord)
    if ord is None or ord == "fro":
        return T.sqrt(T.sum(abs(x) ** 2))
    if ord in (2, -2, "nuc"):
        values = svd(x, compute_uv=False)
        return values.sum() if ord == "nuc" else values.max() if ord == 2 else values.min()
    sums = abs(x).sum(axis=0 if ord in (1, -1) else 1)
    return sums.max() if float(ord) > 0 else sums.min()
