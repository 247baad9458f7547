# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Element bodies: what an op computes for each element, as text. See ``kernel_op`` and
``Op.element_body``."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Apply, GraphError

_Dtypes = list[tuple[str, str]]  # (name of a parameter or letter, dtype)


def element_body_of(op: Any, node: Apply) -> tuple[str, _Dtypes, _Dtypes, str, str, _Dtypes] | None:
    """(name, inputs, outputs, operation, preamble, letters) of the attribute ``element_body`` of the
    Python op `op`; letters are those that stand for a dtype, such as T. None where the attribute is
    None. Raises GraphError where it does not fit `node`."""
    body = op.element_body
    if body is None:
        return None
    if not isinstance(body, (list, tuple)) or len(body) not in (3, 4):
        raise GraphError(
            f"{op}: element_body must be (inputs, outputs, operation) or with a preamble, "
            f'as ("T x, T y", "T z", "z = x * y"), got {body!r}'
        )
    inputs, outputs, operation, preamble = [*body, ""][:4]
    inputs, outputs, operation = _core._element_parameters(
        str(op), inputs, outputs, operation, preamble
    )
    if len(inputs) != len(node.inputs) or len(outputs) != len(node.outputs):
        raise GraphError(
            f"{op}: element_body has {len(inputs)} inputs and {len(outputs)} outputs, and the node "
            f"{len(node.inputs)} and {len(node.outputs)}"
        )
    letters: dict[str, str] = {}
    dtypes: list[_Dtypes] = []
    for parameters, variables in ((inputs, node.inputs), (outputs, node.outputs)):
        dtypes.append([])
        for (name, letter, dtype), variable in zip(parameters, variables, strict=True):
            if dtype is None:
                dtype = letters.setdefault(letter, str(variable.dtype))
            dtypes[-1].append((name, dtype))
    of_letters = list(letters.items())
    return type(op).__name__, dtypes[0], dtypes[1], operation, preamble, of_letters
