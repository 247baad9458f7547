# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A variable with other values at an index: Theano's way to write ``x[i] = y`` in a graph."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import GraphError, Variable
from ._op import NativeOp, apply_registered


def set_subtensor(place: Variable, value: Any) -> Variable:
    """``T.set_subtensor(x[1:], y)`` is x with y, cast and broadcast, at 1:; x itself stays as it is.

    Where integers in the index name an element twice, the last value stays.
    """
    x, index, inputs = _indexed(place, "set_subtensor")
    return apply_registered("set_subtensor", x, value, *inputs, index=index)


def inc_subtensor(place: Variable, value: Any) -> Variable:
    """``T.inc_subtensor(x[1:], y)`` is x with y added at 1:.

    The index must not be able to name an element twice: integers, slices and masks.
    """
    x, index, inputs = _indexed(place, "inc_subtensor")
    if any(v.ndim > 0 and v.dtype != "bool" for v in inputs):
        raise _core.NotSupportedError(
            f"inc_subtensor: {x}[{index}] has an index array, which may name an element twice; "
            "where it does not, write set_subtensor(x[i], x[i] + y)"
        )
    return set_subtensor(place, place + value)


def _indexed(place: Any, who: str) -> tuple[Variable, str, list[Variable]]:
    """The variable that `place` is an index of, the index, and what that takes."""
    op = place.owner.op if isinstance(place, Variable) and place.owner is not None else None
    name, properties = op.recipe if isinstance(op, NativeOp) and op.recipe else ("", {})
    if name != "subtensor":
        raise GraphError(f"{who}: expected an index of a variable, such as x[1:], got {place!r}")
    return place.owner.inputs[0], properties["index"], place.owner.inputs[1:]
