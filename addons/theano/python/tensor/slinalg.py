# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.slinalg``: linear algebra by SciPy, on the host."""

from __future__ import annotations

import importlib
from typing import Any

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable

from .._ops import ArrayOp, tensor_of
from .basic import as_tensor_variable
from .nlinalg import cholesky as _cholesky

__all__ = [
    "Cholesky", "Solve", "cholesky", "eigvalsh", "expm", "kron", "solve", "solve_lower_triangular",
    "solve_upper_triangular",
]  # fmt: skip


def Cholesky(lower: bool = True, destructive: bool = False, on_error: str = "raise") -> Any:  # noqa: N802
    """A function of a positive definite matrix: its factor L of L L^T, or L^T unless `lower`."""
    return _cholesky if lower else lambda x: _cholesky(x).T


cholesky = Cholesky()


def _of_scipy(name: str, *arrays: Any, **options: Any) -> Any:
    linalg = importlib.import_module("scipy.linalg")
    host = [array.numpy() for array in arrays]
    return sw.array(getattr(linalg, name)(*host, **options), device=arrays[0].device)


def Solve(  # noqa: N802
    A_structure: str = "general",  # noqa: N803
    lower: bool = False,
    overwrite_A: bool = False,  # noqa: N803
    overwrite_b: bool = False,
) -> Any:
    """A function (A, b) that solves A x = b; of "lower_triangular" and "upper_triangular" structures
    only that triangle is read."""
    if A_structure not in ("general", "lower_triangular", "upper_triangular", "symmetric"):
        raise ValueError(f"Solve: unknown A_structure {A_structure!r}")
    part = {"lower_triangular": T.tril, "upper_triangular": T.triu}.get(A_structure, lambda x: x)
    transposed = {
        "lower_triangular": "upper_triangular",
        "upper_triangular": "lower_triangular",
    }

    def compute(a: Any, b: Any) -> Any:
        if A_structure.endswith("triangular"):
            return _of_scipy("solve_triangular", a, b, lower=A_structure[0] == "l")
        return sw.linalg.solve(a, b)

    def types(a: Any, b: Any) -> Any:
        dtype = sw.result_type(a.type.dtype, b.type.dtype, "float32")
        return tensor_of(dtype, b.ndim, a)

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        a, b = inputs
        by_b = Solve(transposed.get(A_structure, A_structure))(a.T, slopes[0])
        product = T.outer(by_b, outputs[0]) if b.ndim == 1 else T.dot(by_b, outputs[0].T)
        return [-part(product), by_b]

    op = ArrayOp("Solve", compute, types, gradient, A_structure)
    return lambda a, b: op(as_tensor_variable(a), as_tensor_variable(b))


solve = Solve()
solve_lower_triangular = Solve("lower_triangular")
solve_upper_triangular = Solve("upper_triangular")


def expm(a: Any) -> Variable:
    """The exponential of a square matrix, with the derivative of Al-Mohy and Higham (2009): a block of
    the exponential of [[A^T, G], [0, A^T]]."""

    def compute(x: Any) -> Any:
        return _of_scipy("expm", x)

    def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
        transposed, slope = inputs[0].T, slopes[0]
        upper = T.concatenate([transposed, slope], axis=1)
        lower = T.concatenate([T.zeros_like(transposed), transposed], axis=1)
        n = transposed.shape[0]
        return [expm(T.concatenate([upper, lower], axis=0))[:n, n:]]

    types = lambda x: tensor_of(x.type.dtype, 2, x)  # noqa: E731
    return ArrayOp("Expm", compute, types, gradient)(as_tensor_variable(a))


def eigvalsh(a: Any, b: Any = None, lower: bool = True) -> Variable:
    """The eigenvalues of a symmetric matrix, or those of the pair: a v = w b v. Without a
    derivative."""
    operands = [as_tensor_variable(x) for x in (a, b) if x is not None]

    def compute(*arrays: Any) -> Any:
        return _of_scipy("eigh", *arrays, eigvals_only=True, lower=lower)

    types = lambda x, *rest: tensor_of(x.type.dtype, 1, x)  # noqa: E731
    return ArrayOp("Eigvalsh", compute, types, settings=lower)(*operands)


def kron(a: Any, b: Any) -> Variable:
    """The Kronecker product of two vectors or matrices."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.ndim == 1:
        return T.outer(a, b).flatten()
    product = a.dimshuffle(0, "x", 1, "x") * b.dimshuffle("x", 0, "x", 1)
    return product.reshape((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]))
