# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A variable with other values at an index: Theano's way to write ``x[i] = y`` in a graph."""

from __future__ import annotations

from typing import Any

from .._core import GraphError, Variable
from .op import NativeOp, apply_registered


def set_subtensor(place: Variable, value: Any) -> Variable:
    """``T.set_subtensor(x[1:], y)`` is x with y, cast and broadcast, at 1:; x itself stays as it is.

    Where integers in the index name an element twice, the last value stays.
    """
    x, index, inputs = _indexed(place, "set_subtensor")
    return apply_registered("set_subtensor", x, value, *inputs, index=index)


def inc_subtensor(place: Variable, value: Any) -> Variable:
    """``T.inc_subtensor(x[1:], y)`` is x with y, broadcast, added at 1:; x itself stays as it is.

    An element that index arrays name several times gets as many values added, as with
    ``sw.add.at(x, i, y)``, whose order of additions on a GPU this has too: sums of floats may differ
    in their last bits there. `value` is cast to the dtype of x.
    """
    x, index, inputs = _indexed(place, "inc_subtensor")
    if all(v.ndim == 0 for v in inputs):
        return set_subtensor(place, place + value)
    return apply_registered("inc_subtensor", x, value, *inputs, index=index)


def _indexed(place: Any, who: str) -> tuple[Variable, str, list[Variable]]:
    """The variable that `place` is an index of, the index, and what that takes."""
    op = place.owner.op if isinstance(place, Variable) and place.owner is not None else None
    name, properties = op.recipe if isinstance(op, NativeOp) and op.recipe else ("", {})
    if name != "subtensor":
        raise GraphError(f"{who}: expected an index of a variable, such as x[1:], got {place!r}")
    return place.owner.inputs[0], properties["index"], place.owner.inputs[1:]
