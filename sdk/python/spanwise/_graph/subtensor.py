# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""set_subtensor and inc_subtensor: ``x[i] = y`` and ``x[i] += y`` in a graph, without changing
x."""

from __future__ import annotations

from typing import Any

from .._core import GraphError, Variable
from .op import apply_registered, recipe_of


def set_subtensor(place: Variable, value: Any) -> Variable:
    """``T.set_subtensor(x[1:], y)``: a new variable equal to x, but with ``[1:]`` set to y, cast to
    the dtype of x and broadcast.

    Of several values for one element (repeated indices) the last is stored. Raises GraphError if
    `place` is not an index of a variable.
    """
    x, index, inputs = _parts_of_index(place, "set_subtensor")
    return apply_registered("set_subtensor", x, value, *inputs, index=index)


def inc_subtensor(place: Variable, value: Any) -> Variable:
    """``T.inc_subtensor(x[1:], y)``: a new variable equal to x, but with y, cast to the dtype of x
    and broadcast, added at ``[1:]``.

    Repeated indices add repeatedly, as in ``sw.add.at(x, i, y)``. As there, the order of additions
    on a GPU is not fixed: sums of floats may differ in their last bits from run to run. Raises
    GraphError if `place` is not an index of a variable.
    """
    x, index, inputs = _parts_of_index(place, "inc_subtensor")
    if all(v.ndim == 0 for v in inputs):
        return set_subtensor(place, place + value)
    return apply_registered("inc_subtensor", x, value, *inputs, index=index)


def _parts_of_index(place: Any, caller: str) -> tuple[Variable, str, list[Variable]]:
    """(x, text of the index, inputs of the index) for `place` = x[index]."""
    op = place.owner.op if isinstance(place, Variable) and place.owner is not None else None
    name, properties = recipe_of(op)
    if name != "subtensor":
        raise GraphError(f"{caller}: expected an index of a variable, such as x[1:], got {place!r}")
    return place.owner.inputs[0], properties["index"], place.owner.inputs[1:]
