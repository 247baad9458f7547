# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Registered ops called on arrays: computed at once, by a function of that one op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .. import _core
from .._core import Array, TensorType, Variable
from .._graph.op import apply_registered


def is_eager(inputs: Sequence[Any]) -> bool:
    """Whether a call on `inputs` computes: there are some, and none is a variable of a graph."""
    for x in inputs:  # a loop, as any() costs a generator at each call
        if isinstance(x, Variable):
            return False
    return len(inputs) > 0


def computed(name: str, inputs: Sequence[Any], properties: Mapping[str, Any]) -> Any:
    """What the registered op `name` makes of arrays: an Array, or a list of them.

    Runs where the first array on a GPU is, else where the first array is. Results are new arrays, also
    of ops that view or overwrite their inputs, which stay as they are.
    """
    arrays = [x if isinstance(x, Array) else _as_array(x) for x in inputs]
    types = [(str(a.dtype), a.ndim) for a in arrays]
    given = _hashable(properties) if properties else ()
    return _function_of(name, given, tuple(types), _device_of(arrays))(*arrays)


def _device_of(arrays: Sequence[Array]) -> Any:
    first = arrays[0].device
    for a in arrays:
        if a.device is not first:
            return next((a.device for a in arrays if a.device.kind == "cuda"), first)
    return first


def _as_array(x: Any) -> Array:
    """Numbers and lists get the dtype that they have in a graph; arrays share their memory."""
    if isinstance(x, (bool, int, float, complex, list, tuple)):
        return _core._as_variable(x).data  # type: ignore[attr-defined]
    return _core._asarray(x)


def _hashable(properties: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    # 1, 1.0 and True are one key of a dict, and three values of a property.
    return tuple(
        (name, type(value).__name__, tuple(value) if isinstance(value, list) else value)
        for name, value in sorted(properties.items())
    )


@lru_cache(maxsize=512)
def _function_of(
    name: str,
    properties: tuple[tuple[str, str, Any], ...],
    types: tuple[tuple[str, int], ...],
    device: Any,
) -> Any:
    from .._graph.compiled import function

    variables = [TensorType(dtype, (None,) * ndim)() for dtype, ndim in types]
    values = {name: list(v) if kind == "list" else v for name, kind, v in properties}
    outputs = apply_registered(name, *variables, **values)
    return function(variables, outputs, name=name, device=device)
