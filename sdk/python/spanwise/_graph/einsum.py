# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``T.einsum``: Einstein summation of variables, by the plans of sw.einsum."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import _core
from .._core import Variable
from .._numpy.einsum import read_operands
from .._numpy.einsum_plan import Pair, Preparation, plan_for
from .._numpy.einsum_subscripts import parse_subscripts
from .functions import as_variable
from .matrices import arange

_OPEN = 16  # in place of an extent that no type fixes, where a plan compares sizes


def einsum(*operands: Any) -> Variable:
    """Einstein summation, ``T.einsum("ij,jk->ik", a, b)``, with the subscripts of numpy.einsum.

    An axis of extent 1 broadcasts where its type fixes the extent. The operands are contracted in
    pairs by matrix products. Raises ArgumentError for subscripts that do not fit the ranks and
    fixed extents of the operands.
    """
    subscripts, values = read_operands(operands, lambda given: [as_variable(x) for x in given])
    labels, _ = parse_subscripts(subscripts, tuple(x.ndim for x in values))
    plan = plan_for(subscripts, _planned_shapes(labels, values), None)
    dtype = _core.result_type(*(x.dtype for x in values))
    left = [
        _prepared(x.astype(dtype), how) for x, how in zip(values, plan.preparations, strict=True)
    ]
    for pair in plan.pairs:
        two, one = left.pop(pair.second), left.pop(pair.first)
        left.append(_product(one, two, pair))
    return left[0] if plan.order is None else left[0].transpose(plan.order)


def _planned_shapes(labels: Any, values: list[Variable]) -> tuple[tuple[int, ...], ...]:
    """The fixed extents; an open one has the extent of its label elsewhere, or _OPEN."""
    known: dict[Any, int] = {}
    for names, x in zip(labels, values, strict=True):
        for name, extent in zip(names, x.type.shape, strict=True):
            if extent is not None and extent != 1:
                known.setdefault(name, extent)
    return tuple(
        tuple(
            known.get(n, _OPEN) if e is None else e
            for n, e in zip(names, x.type.shape, strict=True)
        )
        for names, x in zip(labels, values, strict=True)
    )


def _prepared(x: Variable, how: Preparation | None) -> Variable:
    if how is None:
        return x
    for first, second in how.diagonals:
        x = _diagonal(x, first, second)
    if how.dropped:
        x = x[tuple(0 if i in how.dropped else slice(None) for i in range(x.ndim))]
    if how.summed:
        # In the operands' dtype, as NumPy: integers wrap around, bool is a logical or.
        x = x.any(axis=how.summed) if x.dtype == "bool" else x.sum(how.summed, dtype=x.dtype)
    return x


def _diagonal(x: Variable, first: int, second: int) -> Variable:
    """The diagonal of two axes, which a call of the function checks to be of equal extent."""
    others = [i for i in range(x.ndim) if i not in (first, second)]
    extent = x.shape[first]
    rows, columns = arange(extent), arange(x.shape[second]).reshape(extent)
    found = x.dimshuffle(first, second, *others)[rows, columns]
    return found.dimshuffle(*range(1, found.ndim), 0)


def _product(one: Variable, two: Variable, pair: Pair) -> Variable:
    if pair.aligned is not None:
        (order_one, key_one), (order_two, key_two) = pair.aligned
        first, second = one.transpose(order_one), two.transpose(order_two)
        return _core.multiply(
            first[key_one] if key_one else first, second[key_two] if key_two else second
        )
    batch, summed = pair.batch, pair.summed
    rows = [i for i in range(one.ndim) if i not in (*batch[0], *summed[0])]
    columns = [i for i in range(two.ndim) if i not in (*batch[1], *summed[1])]
    kept = [one.shape[i] for i in batch[0]]
    left = _stacked(one, kept, batch[0], rows, summed[0])
    right = _stacked(two, kept, batch[1], summed[1], columns)
    outer = [*kept, *(one.shape[i] for i in rows), *(two.shape[i] for i in columns)]
    return _core.matmul(left, right).reshape(*outer)


def _stacked(x: Variable, kept: list[Any], batch: Any, rows: Any, columns: Any) -> Variable:
    """`x` as matrices, of which the axes `rows` and `columns` are joined, for the axes `batch`."""
    sizes = (prod((x.shape[i] for i in axes), start=as_variable(1)) for axes in (rows, columns))
    return x.dimshuffle(*batch, *rows, *columns).reshape(*kept, *sizes)
