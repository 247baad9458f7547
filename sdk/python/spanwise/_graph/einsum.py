# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``T.einsum``: Einstein summation of variables, by the plans of sw.einsum."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Variable
from .._numpy.einsum import read_operands, run_plan
from .._numpy.einsum_plan import plan_for
from .._numpy.einsum_subscripts import parse_subscripts
from .functions import as_variable
from .matrices import arange, contract

#: Stands for an extent that no type fixes where a plan compares sizes of products: any size above 1.
_ASSUMED_EXTENT = 16


def einsum(*operands: Any) -> Variable:
    """Einstein summation, ``T.einsum("ij,jk->ik", a, b)``, with the subscripts of numpy.einsum.

    An axis of extent 1 broadcasts where its type fixes the extent. The operands are contracted in
    pairs by matrix products. Raises ArgumentError for subscripts that do not fit the ranks and
    fixed extents of the operands.
    """
    subscripts, operands = read_operands(operands)
    values = [as_variable(x) for x in operands]
    labels, _ = parse_subscripts(subscripts, tuple(x.ndim for x in values))
    plan = plan_for(subscripts, _planned_shapes(labels, values), None)
    dtype = _core.result_type(*(x.dtype for x in values))
    return run_plan(plan, [x.astype(dtype) for x in values], _diagonal, contract)


def _planned_shapes(labels: Any, values: list[Variable]) -> tuple[tuple[int, ...], ...]:
    """The fixed extents; one that is not fixed is that of its label in another operand, or
    _ASSUMED_EXTENT."""
    known: dict[Any, int] = {}
    for of_axes, x in zip(labels, values, strict=True):
        for label, extent in zip(of_axes, x.type.shape, strict=True):
            if extent is not None and extent != 1:
                known.setdefault(label, extent)
    return tuple(
        tuple(
            known.get(label, _ASSUMED_EXTENT) if extent is None else extent
            for label, extent in zip(of_axes, x.type.shape, strict=True)
        )
        for of_axes, x in zip(labels, values, strict=True)
    )


def _diagonal(x: Variable, offset: int, first: int, second: int) -> Variable:
    """The diagonal of two axes, which a call of the compiled function checks to be of equal extent;
    `offset` is always 0."""
    others = [i for i in range(x.ndim) if i not in (first, second)]
    extent = x.shape[first]
    rows, columns = arange(extent), arange(x.shape[second]).reshape(extent)
    elements = x.dimshuffle(first, second, *others)[rows, columns]
    return elements.dimshuffle(*range(1, elements.ndim), 0)
