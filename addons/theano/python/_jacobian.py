# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``jacobian`` and ``hessian`` of vectors, by a loop over their elements."""

from collections.abc import Sequence
from typing import Any

import spanwise.tensor as T  # noqa: N812
from spanwise import GraphError
from spanwise.gradient import grad
from spanwise.graph import scan

from .._graph.traversal import as_list


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The derivatives of a vector's elements: for a variable of `wrt` with shape (m, ...) an array of
    shape (n, m, ...), n being the vector's length. A variable, or a list or tuple as `wrt` is.

    The function computes one gradient for each element in a loop. Raises GraphError for rank > 1; of
    rank 0 it is the gradient. The other arguments are those of grad().
    """
    if expression.ndim > 1:
        raise GraphError(
            f"jacobian: expected a vector, got {expression.type}; use expression.flatten()"
        )
    variables = as_list(wrt)

    def row(element: Any) -> list[Any]:
        return grad(element, variables, consider_constant, disconnected_inputs)

    if expression.ndim == 0:
        derivatives = row(expression)
    else:
        derivatives = as_list(scan(lambda i: row(expression[i]), T.arange(expression.shape[0])))
    return type(wrt)(derivatives) if isinstance(wrt, (list, tuple)) else derivatives[0]


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The second derivatives of a scalar with respect to a vector of length n, an array of shape
    (n, n). A variable, or a list or tuple as `wrt` is.

    Raises GraphError for a variable of `wrt` that is no vector. The other arguments are those of
    grad().
    """
    variables = as_list(wrt)
    for x in variables:
        if x.ndim != 1:
            raise GraphError(f"hessian: expected derivatives with respect to vectors, got {x.type}")
    slopes = grad(cost, variables, consider_constant, disconnected_inputs)
    # A slope that is constant does not depend on x.
    hessians = [
        jacobian(slope, x, consider_constant, "ignore")
        for slope, x in zip(slopes, variables, strict=True)
    ]
    return type(wrt)(hessians) if isinstance(wrt, (list, tuple)) else hessians[0]
