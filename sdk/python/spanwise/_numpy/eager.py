# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Eager calls of C++ ops on arrays, through a cached compiled function of the single op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .. import _core
from .._core import Array, TensorType, Variable
from .._graph.op import NativeOp, apply_registered


def is_eager(inputs: Sequence[Any]) -> bool:
    """Whether a call on `inputs` computes at once: at least one input, and none a Variable."""
    for x in inputs:  # faster than any() with a generator
        if isinstance(x, Variable):
            return False
    return len(inputs) > 0


def computed(op: str | NativeOp, inputs: Sequence[Any], properties: Mapping[str, Any]) -> Any:
    """The outputs of an op on arrays: an Array, or a list of them. `op` is the name of a registered op
    with these properties, or an op without a name, which has none.

    Runs on the device of the first array on a GPU, else of the first array. Results never share
    memory with the inputs, and inputs are not modified, also for ops with a view map or a destroy
    map.
    """
    arrays = [x if isinstance(x, Array) else _as_array(x) for x in inputs]
    key = _hashable(properties) if properties else ()
    return _function_of(op, key, _types_of(arrays), _device_of(arrays))(*arrays)


def _types_of(arrays: Sequence[Array]) -> tuple[tuple[str, int], ...]:
    return tuple([(str(a.dtype), a.ndim) for a in arrays])


def _device_of(arrays: Sequence[Array]) -> Any:
    first = arrays[0].device
    for a in arrays:
        if a.device is not first:
            return next((a.device for a in arrays if a.device.kind == "cuda"), first)
    return first


def _as_array(x: Any) -> Array:
    """`x` as an Array: numbers and lists with the dtype of a graph constant, arrays without a
    copy."""
    if isinstance(x, (bool, int, float, complex, list, tuple)):
        return _core._as_variable(x).data  # type: ignore[attr-defined]
    return _core._asarray(x)


def _hashable(properties: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    # With the type's name, since 1, 1.0 and True are equal keys but different property values.
    return tuple(
        (name, type(value).__name__, tuple(value) if isinstance(value, list) else value)
        for name, value in sorted(properties.items())
    )


@lru_cache(maxsize=512)
def _function_of(
    op: str | NativeOp,
    properties: tuple[tuple[str, str, Any], ...],
    types: tuple[tuple[str, int], ...],
    device: Any,
) -> Any:
    from .._graph.compiled import function

    variables = [TensorType(dtype, (None,) * ndim)() for dtype, ndim in types]
    values = {name: list(v) if kind == "list" else v for name, kind, v in properties}
    outputs = apply_registered(op, *variables, **values) if isinstance(op, str) else op(*variables)
    return function(variables, outputs, name=str(op), device=device)
