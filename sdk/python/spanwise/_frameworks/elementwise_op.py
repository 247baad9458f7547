# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph op that runs an ElementwiseKernel declared by values, ("T x, T y", "T z", "z = x * y")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _core
from .._core import Apply, ArgumentError, TensorType
from .._graph.op import Op
from .._kernels.user_kernels import ElementwiseKernel


class ElementwiseOp(Op):
    """Computes `kernel`. Its outputs have the broadcast shape of the inputs that are not raw."""

    __props__ = ("kernel",)

    def __init__(self, caller: str, kernel: ElementwiseKernel) -> None:
        inputs, outputs = kernel.declared
        if not outputs:
            raise ArgumentError(
                f"{caller}: {kernel.name}: expected a kernel declared by values, such as "
                '("T x, T y", "T z", "z = x * y"), got one declared by pointers'
            )
        self.kernel = kernel
        declared = [text.split() for text in inputs.split(",")]
        self.inputs = tuple(tokens[-1] for tokens in declared)
        self.outputs = len(outputs.split(","))
        self._is_raw = tuple(tokens[0] == "raw" for tokens in declared)

    def make_node(self, *inputs: Any) -> Apply:
        variables = [_core._as_variable(x) for x in inputs]
        # A call on empty arrays checks the dtypes and determines those of the outputs; it neither
        # compiles nor runs the kernel.
        results = self._run(_core.empty((0,), x.dtype, device="cpu") for x in variables)
        elements = [x for x, is_raw in zip(variables, self._is_raw, strict=True) if not is_raw]
        shape = _broadcast([x.type.shape for x in elements or variables])
        return Apply(self, variables, [TensorType(str(y.dtype), shape)() for y in results])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        for cell, output in zip(output_storage, self._run(inputs), strict=True):
            cell[0] = output

    def _run(self, arrays: Iterable[Any]) -> tuple[Any, ...]:
        results = self.kernel(*arrays)
        return results if isinstance(results, tuple) else (results,)

    def __str__(self) -> str:
        return str(self.kernel.name)


def _broadcast(shapes: list[tuple[int | None, ...]]) -> tuple[int | None, ...]:
    """The broadcast shape; an unknown extent is None. The kernel checks the extents."""
    result = []
    for axis in range(-max(map(len, shapes)), 0):
        extents = {shape[axis] for shape in shapes if len(shape) >= -axis}
        known = {n for n in extents if n is not None and n != 1}
        result.append(known.pop() if known else None if None in extents else 1)
    return tuple(result)
