# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Indices of variables as a property and inputs of an op: ``x[1:, i, ::-1]`` is the text
"1:, ?, ::-1" and the input i."""

from __future__ import annotations

import operator
from typing import Any

from .. import _core
from .._core import Constant, Variable

_INT64_MAX = 2**63 - 1


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
    return ", ".join(_part_text(part, inputs) for part in parts), inputs


def _part_text(part: Any, inputs: list[Variable]) -> str:
    """The text of one part of an index; appends the variables for its ? and [] to `inputs`."""
    if part is None:
        return "None"
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        integers = [part.start, part.stop, *([] if part.step is None else [part.step])]
        return ":".join("" if n is None else _integer_text(n, inputs) for n in integers)
    if _is_integer(part):
        return _integer_text(part, inputs)
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


def _integer_text(value: Any, inputs: list[Variable]) -> str:
    known = static_integer(value)
    if known is not None:
        # Clipped, it is still out of bounds.
        return str(max(-_INT64_MAX - 1, min(known, _INT64_MAX)))
    inputs.append(value)
    return "?"


def _index_array(part: Any) -> Variable:
    """The variable for an index array or a mask. Raises BoundsError for other values."""
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
