# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of OpFromGraph, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import Constant, GraphError, SharedVariable, Variable
from .traversal import variables_of


def check_inputs(inputs: Sequence[Variable]) -> None:
    """Raises TypeError or GraphError for inputs that OpFromGraph does not take."""
    for i, x in enumerate(inputs):
        if not isinstance(x, Variable):
            raise TypeError(f"OpFromGraph: inputs[{i}]: expected a variable, got {x!r}")
        if isinstance(x, (Constant, SharedVariable)):
            raise GraphError(
                f"OpFromGraph: inputs[{i}]: expected a variable without a value, got {x}; leave "
                "constants and shared variables out of the inputs"
            )
        if x in list(inputs[:i]):
            raise GraphError(f"OpFromGraph: {x} is listed twice in the inputs")


def shared_inputs_of(outputs: list[Variable], inputs: Sequence[Variable]) -> list[Variable]:
    """The shared variables that `outputs` depend on. Raises GraphError for a variable without a
    value that is not an input."""
    boundary = set(inputs)
    read = variables_of(outputs, inputs)
    leaves = [x for x in read if x.owner is None and x not in boundary]
    for x in leaves:
        if not isinstance(x, (Constant, SharedVariable)):
            raise GraphError(
                f"OpFromGraph: the outputs depend on {x} of {x.type}; list it in the inputs"
            )
    return [x for x in leaves if isinstance(x, SharedVariable)]


def as_overrides(overrides: Any, input_count: int, shared_count: int) -> Any:
    """The argument grad_overrides as a function, or a list with one entry for each input and, at the
    end, for each shared variable."""
    if callable(overrides):
        return overrides
    listed = [overrides] * input_count if isinstance(overrides, str) else list(overrides)
    if len(listed) != input_count:
        raise GraphError(
            f"OpFromGraph: grad_overrides: expected one entry for each of {input_count} inputs, got "
            f"{len(listed)}"
        )
    for override in listed:
        if override != "default" and not callable(override):
            raise TypeError(
                f'OpFromGraph: grad_overrides: expected "default" or a function, got {override!r}'
            )
    return [*listed, *["default"] * shared_count]
