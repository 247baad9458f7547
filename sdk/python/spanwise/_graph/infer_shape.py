# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The method ``infer_shape`` of Python ops (theano/gof/op.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._core import Apply, GraphError, Variable


def extent_source(op: Any, node: Apply, output: int, axis: int) -> tuple[int, int] | None:
    """(input, axis) of the extent that ``op.infer_shape(node, input_shapes)`` gives for an axis of an
    output; None where that is not the extent of an input.

    infer_shape gets a tuple of variables for each input and returns a tuple of extents for each
    output. Raises GraphError where it returns anything else.
    """
    shapes = [tuple(x.shape[i] for i in range(x.ndim)) for x in node.inputs]
    extent = _inferred_extents(op, node, output, shapes)[axis]
    for i, shape in enumerate(shapes):
        for k, of_input in enumerate(shape):
            if extent is of_input:
                return i, k
    return None


def inferred_extent(op: Any, node: Apply, output: int, axis: int) -> Variable | None:
    """The extent that infer_shape gives for an axis, int64, from extents of the inputs that are
    themselves inferred; None where infer_shape gives None."""
    shapes = [tuple(_core._inferred_extent(x, i) for i in range(x.ndim)) for x in node.inputs]
    extent = _inferred_extents(op, node, output, shapes)[axis]
    return None if extent is None else _core._as_variable(extent).astype("int64")


def _inferred_extents(op: Any, node: Apply, output: int, shapes: list[Any]) -> Sequence[Any]:
    """The extents of an output by infer_shape, checked."""
    result = op.infer_shape(node, shapes)
    if not isinstance(result, (list, tuple)) or len(result) != len(node.outputs):
        raise GraphError(
            f"{op}: infer_shape must return a tuple of extents for each output, got {result!r}"
        )
    extents = tuple(result[output])
    if len(extents) != node.outputs[output].ndim:
        raise GraphError(
            f"{op}: infer_shape gives {len(extents)} extents for output {output} of {node.outputs[output].type}"
        )
    return extents
