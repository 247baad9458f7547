# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``jacobian`` and ``hessian`` of vectors whose length is known when the graph is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import spanwise.tensor as T  # noqa: N812
from spanwise import GraphError
from spanwise.gradient import grad


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The derivatives of a vector's elements: for a variable of `wrt` with shape (m, ...) an array of
    shape (n, m, ...), n being the vector's length. A variable, or a list or tuple as `wrt` is.

    The graph has one gradient for each element, without a loop. Raises GraphError for a vector whose
    type does not fix its length, and for rank > 1; of rank 0 it is the gradient. The other arguments
    are those of grad().
    """
    variables = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    if expression.ndim > 1:
        raise GraphError(
            f"jacobian: expected a vector, got {expression.type}; use expression.flatten()"
        )
    remedy = "use expression.reshape((n,))"
    is_vector = expression.ndim == 1
    costs = _elements("jacobian", expression, expression, remedy) if is_vector else [expression]
    rows = [grad(cost, variables, consider_constant, disconnected_inputs) for cost in costs]
    found = [T.stack(column) if is_vector else column[0] for column in zip(*rows, strict=True)]
    return type(wrt)(found) if isinstance(wrt, (list, tuple)) else found[0]


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The second derivatives of a scalar with respect to a vector of length n, an array of shape
    (n, n). A variable, or a list or tuple as `wrt` is.

    Raises GraphError for a variable of `wrt` that is no vector, or whose type does not fix its
    length. The other arguments are those of grad().
    """
    variables = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    found = []
    for x in variables:
        if x.ndim != 1:
            raise GraphError(f"hessian: expected derivatives with respect to vectors, got {x.type}")
        slope = grad(cost, x, consider_constant, disconnected_inputs)
        remedy = "compute the cost from y = x.reshape((n,)), and use y in place of x"
        elements = _elements("hessian", slope, x, remedy)
        # A slope that is constant does not depend on x.
        rows = [grad(each, x, consider_constant, "ignore") for each in elements]
        found.append(T.stack(rows))
    return type(wrt)(found) if isinstance(wrt, (list, tuple)) else found[0]


def _elements(who: str, vector: Any, sized: Any, remedy: str) -> list[Any]:
    """The elements of `vector`, which is as long as `sized`."""
    length = sized.type.shape[0]
    if not length:
        raise GraphError(
            f"{who}: expected a vector whose type fixes its length, got {sized} of length {length}, "
            f"since the graph has one gradient for each element; {remedy}"
        )
    return [vector[i] for i in range(length)]
