# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Indices of variables as a property and inputs of an op: ``x[1:, i, ::-1]`` is the text
"1:, ?, ::-1" and the input i."""

from __future__ import annotations

import operator
from typing import Any

from .. import _core
from .._core import Constant, Variable

_LARGEST = 2**63 - 1


def static_integer(value: Any) -> int | None:
    """The value of an integer or an integer constant; None for another integer variable of rank 0.
    Raises DTypeError for other variables, TypeError for other values."""
    if isinstance(value, Variable):
        if value.ndim != 0 or value.dtype.kind not in "iu":
            raise _core.DTypeError(
                f"{value} of {value.type} stands where one integer is expected; cast it, or take an "
                "element of it"
            )
        return int(value.data.item()) if isinstance(value, Constant) else None
    return operator.index(value)


def as_index(key: Any) -> tuple[str, list[Variable]]:
    """The text of an index, and the variables for its ? (integers) and [] (index arrays, masks) in
    order. Raises BoundsError for values that are no index."""
    inputs: list[Variable] = []
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(_part(part, inputs) for part in parts), inputs


def _part(part: Any, inputs: list[Variable]) -> str:
    if part is None:
        return "None"
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        ends = [_bound(part.start, inputs), _bound(part.stop, inputs)]
        if part.step is not None:
            ends.append(_bound(part.step, inputs))
        return ":".join(ends)
    if _is_integer(part):
        return _number(part, inputs)
    inputs.append(_index_array(part))
    return "[]"


def _is_integer(part: Any) -> bool:
    if isinstance(part, Variable):
        return part.ndim == 0 and part.dtype.kind in "iu"
    if isinstance(part, bool) or getattr(part, "ndim", 0) > 0:
        return False
    try:
        operator.index(part)
    except TypeError:
        return False
    return True


def _number(value: Any, inputs: list[Variable]) -> str:
    known = static_integer(value)
    if known is not None:
        return str(max(-_LARGEST - 1, min(known, _LARGEST)))  # clipped, it is still out of bounds
    inputs.append(value)
    return "?"


def _bound(value: Any, inputs: list[Variable]) -> str:
    return "" if value is None else _number(value, inputs)


def _index_array(part: Any) -> Variable:
    if isinstance(part, (str, bytes, dict, float, complex)):
        raise _core.BoundsError(
            "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays or "
            f"variables are valid indices of a variable, got {part!r}"
        )
    if isinstance(part, list | tuple):
        listed = _core._asarray(part, device="cpu")
        part = listed.astype("int64") if listed.size == 0 else listed
    index = _core._as_variable(part)
    if index.ndim == 0 and index.dtype == "bool":
        raise _core.BoundsError(
            f"{index} is a mask of rank 0; an index of a variable needs masks that have an axis: "
            "choose by T.where()"
        )
    return index
