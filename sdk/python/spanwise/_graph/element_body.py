# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Element bodies: what an op computes for each element, as text. See ``kernel_op`` and
``Op.element_body``."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Apply, GraphError

_Pairs = list[tuple[str, str]]


def element_body_of(op: Any, node: Apply) -> tuple[str, _Pairs, _Pairs, str, str, _Pairs] | None:
    """(name, inputs, outputs, operation, preamble, letters) of the attribute ``element_body`` of the
    Python op `op`, with dtypes by name; None where it is None. Raises GraphError where it does not
    fit `node`."""
    given = op.element_body
    if given is None:
        return None
    if not isinstance(given, (list, tuple)) or len(given) not in (3, 4):
        raise GraphError(
            f"{op}: element_body must be (inputs, outputs, operation) or with a preamble, "
            f'as ("T x, T y", "T z", "z = x * y"), got {given!r}'
        )
    declared = [*given, ""][:4]
    inputs, outputs, operation = _core._element_parameters(f"{op}", *declared)
    if len(inputs) != len(node.inputs) or len(outputs) != len(node.outputs):
        raise GraphError(
            f"{op}: element_body has {len(inputs)} inputs and {len(outputs)} outputs, and the node "
            f"{len(node.inputs)} and {len(node.outputs)}"
        )
    letters: dict[str, str] = {}
    found = []
    for parameters, variables in ((inputs, node.inputs), (outputs, node.outputs)):
        values = []
        for (name, letter, dtype), variable in zip(parameters, variables, strict=True):
            if dtype is None:
                dtype = letters.setdefault(letter, str(variable.dtype))
            values.append((name, dtype))
        found.append(values)
    name = type(op).__name__
    return name, found[0], found[1], operation, declared[3], list(letters.items())
