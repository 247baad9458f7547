# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.sparse.cg``."""

from .. import gpuarray
from .operator import IdentityOperator

__all__ = ["ConvergenceError", "solve_pkt_with_cg"]

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
