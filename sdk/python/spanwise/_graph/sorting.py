# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``T.argsort`` and ``T.sort``. The order is computed on the host, by NumPy."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Apply, TensorType, Variable
from .._numpy.shape import normalized_axis
from .functions import as_variable
from .matrices import arange
from .op import Op


class ArgSort(Op):
    """The indices that sort the input along `axis`, int64; equal elements keep their order, and NaN
    is last."""

    __props__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def make_node(self, x: Any) -> Apply:
        variable = as_variable(x)
        shape, device = variable.type.shape, variable.type.device
        return Apply(self, [variable], [TensorType("int64", shape, device)()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        import numpy as np

        (x,) = inputs
        order = np.argsort(x.numpy(), axis=self.axis, kind="stable")
        output_storage[0][0] = _core.array(order, "int64", device=x.device)

    def infer_shape(self, node: Apply, input_shapes: Any) -> Any:
        return input_shapes

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


def argsort(x: Any, axis: int | None = -1) -> Variable:
    """The int64 indices that sort `x` along `axis`, or the flattened `x` for None. Equal elements
    keep their order; NaN is last. Computed on the host: a call waits for `x`."""
    v, axis = _with_axis(x, axis, "argsort")
    return ArgSort(axis)(v)


def sort(x: Any, axis: int | None = -1) -> Variable:
    """`x` sorted along `axis`, or the flattened `x` for None; NaN is last. The derivative is that of
    the elements in their new positions. The order is computed on the host: a call waits for `x`."""
    v, axis = _with_axis(x, axis, "sort")
    key: list[Any] = []
    for i in range(v.ndim):
        positions = arange(v.shape[i])
        key.append(positions.dimshuffle(*["x"] * i, 0, *["x"] * (v.ndim - i - 1)))
    key[axis] = ArgSort(axis)(v)
    return v[tuple(key)]


def _with_axis(x: Any, axis: int | None, caller: str) -> tuple[Variable, int]:
    v = as_variable(x)
    return (v.flatten(), 0) if axis is None else (v, normalized_axis(axis, v.ndim, caller))
