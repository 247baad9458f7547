# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.nnet``: functions of neural networks."""

from __future__ import annotations

from typing import Any

from spanwise import tensor as T  # noqa: N812
from spanwise.graph import Variable
from spanwise.tensor import as_variable, exp, log, sigmoid, softmax, softplus, where

__all__ = [
    "binary_crossentropy", "categorical_crossentropy", "elu", "hard_sigmoid", "relu", "sigmoid",
    "softmax", "softplus", "ultra_fast_sigmoid",
]  # fmt: skip

#: Theano approximated it; here it is exact.
ultra_fast_sigmoid = sigmoid


def relu(x: Any, alpha: float = 0) -> Variable:
    """x where it is positive, else alpha * x."""
    x = as_variable(x)
    return where(x > 0, x, alpha * x) if alpha else T.maximum(x, 0)


def elu(x: Any, alpha: float = 1) -> Variable:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    x = as_variable(x)
    return where(x > 0, x, alpha * (exp(x) - 1))


def hard_sigmoid(x: Any) -> Variable:
    """0.2 * x + 0.5, limited to 0 and 1."""
    return T.clip(0.2 * as_variable(x) + 0.5, 0, 1)


def binary_crossentropy(output: Any, target: Any) -> Variable:
    """-(target * log(output) + (1 - target) * log(1 - output)), for each element."""
    output = as_variable(output)
    return -(target * log(output) + (1.0 - target) * log(1.0 - output))


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Variable:
    """The cross-entropy of each row: `true_dist` is a matrix of probabilities, or a vector of the
    indices of the true classes."""
    coding_dist, true_dist = as_variable(coding_dist), as_variable(true_dist)
    if true_dist.ndim == coding_dist.ndim:
        return -(true_dist * log(coding_dist)).sum(axis=coding_dist.ndim - 1)
    return -log(coding_dist[_rows(coding_dist), true_dist])


def _rows(x: Any) -> Variable:
    """0, 1, ..., one for each row of the matrix `x`."""
    return T.cumsum(T.ones_like(x[:, 0], dtype="int64"), axis=0) - 1
