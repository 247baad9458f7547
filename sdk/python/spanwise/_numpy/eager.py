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


def computed(name: str, inputs: Sequence[Any], properties: Mapping[str, Any]) -> Any:
    """The outputs of the registered op `name` on arrays: an Array, or a list of them.

    Runs on the device of the first array on a GPU, else of the first array. Results never share
    memory with the inputs, and inputs are not modified, also for ops with a view map or a destroy
    map.
    """
    arrays = [x if isinstance(x, Array) else _as_array(x) for x in inputs]
    key = _hashable(properties) if properties else ()
    return _function_of(name, key, _types_of(arrays), _device_of(arrays))(*arrays)


def computed_by(op: NativeOp, inputs: Sequence[Any]) -> Any:
    """As computed(), for an op that has no registered name."""
    arrays = [x if isinstance(x, Array) else _as_array(x) for x in inputs]
    return _function_of_op(op, _types_of(arrays), _device_of(arrays))(*arrays)


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
    name: str,
    properties: tuple[tuple[str, str, Any], ...],
    types: tuple[tuple[str, int], ...],
    device: Any,
) -> Any:
    values = {name: list(v) if kind == "list" else v for name, kind, v in properties}
    return _compiled(lambda *x: apply_registered(name, *x, **values), types, name, device)


@lru_cache(maxsize=512)
def _function_of_op(op: NativeOp, types: tuple[tuple[str, int], ...], device: Any) -> Any:
    return _compiled(op, types, str(op), device)


def _compiled(apply: Any, types: tuple[tuple[str, int], ...], name: str, device: Any) -> Any:
    from .._graph.compiled import function

    variables = [TensorType(dtype, (None,) * ndim)() for dtype, ndim in types]
    return function(variables, apply(*variables), name=name, device=device)
