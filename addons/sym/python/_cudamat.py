# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions as CUDAMat programs: float32, two axes.

Masks are matrices of 0 and 1, as CUDAMat's comparisons return them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._cudamat_calls import (
    ARITHMETIC,
    COMPARISONS,
    EXTREMA,
    FUNCTIONS,
    REDUCTIONS,
    CudamatWriter,
    unsupported,
)
from ._program import Program, short
from ._tree import Leaf, Node


def cudamat_code(program: Program) -> str:
    """A module whose ``program(...)`` takes and returns CUDAMatrix objects. Raises
    NotSupportedError, with operation and place, for what CUDAMat cannot do."""
    lines = [
        "import cudamat as cm",
        "",
        "",
        f"def program({program.parameters()}):",
        f'    """Matrices: {program.described_leaves()}"""',
    ]
    for name, leaf in program.leaves.items():
        _check(leaf, name)
    writer = _Writer(program)
    for name, node in program.steps.items():
        _check(node, name)
        for line in writer.step(name, node):
            lines.append(f"    {line}  # {short(node.place)}")
    result = program.result
    if result in writer.transposed:
        result = f"{writer.transposed[result]}.transpose()"
    elif result in program.leaves:
        result = f"cm.empty({program.leaves[result].shape}).assign({result})"
    return "\n".join([*lines, f"    return {result}\n"])


def _check(node: Node, name: str) -> None:
    is_mask = node.function in COMPARISONS and node.dtype == "bool"
    if node.dtype != "float32" and not is_mask:
        remedy = f'sym.array({name}, dtype="float32")' if isinstance(node, Leaf) else "astype"
        raise unsupported(node, f"{name} is {node.dtype}, CUDAMat has float32 only ({remedy})")
    if len(node.shape) != 2 or 0 in node.shape:
        raise unsupported(
            node,
            f"{name} has shape {node.shape}; expected two axes of at least one element (a "
            "reduction keeps them with keepdims=True)",
        )


class _Writer(CudamatWriter):
    def step(self, name: str, node: Node) -> list[str]:
        """The lines that compute `node`."""
        function = node.function
        if self._is_transpose(node):
            source = self.program.names[id(node.args[0])]
            if source not in self.transposed:
                self.transposed[name] = source  # dot takes its .T, others get a copy
                return []
            return self._copies(f"{name} = {self._matrix(node.args[0])}.transpose()")
        if function in ("dot", "matmul"):
            left, right = (self._factor(x) for x in self._matrices(node, 2))
            return [f"{name} = cm.dot({left}, {right})"]
        if function in REDUCTIONS:
            return self._copies(f"{name} = {self._reduction(node)}")
        for functions, write in self._writers():
            if function in functions:
                if node.kwargs:
                    raise unsupported(
                        node, f"the options {', '.join(node.kwargs)} are not supported"
                    )
                return self._copies(f"{name} = {write(node)}")
        raise unsupported(node, "it has no such function")

    def _writers(self) -> list[tuple[Any, Callable[[Node], str]]]:
        """(functions, method that writes a call of one of them), for calls without options."""
        return [
            (FUNCTIONS, self._function),
            (ARITHMETIC, self._arithmetic),
            ((*COMPARISONS, *EXTREMA), self._comparison),
            (("power", "square", "negative", "positive", "reciprocal", "sign"), self._power),
            (("where",), self._where),
            (("broadcast_to",), self._broadcast),
        ]

    def _is_transpose(self, node: Node) -> bool:
        if node.function in ("T", "matrix_transpose"):
            return True
        axes = [*node.args[1:], *node.kwargs.values()]
        return node.function == "transpose" and axes in ([], [None], [(1, 0)], [[1, 0]])

    def _copies(self, line: str) -> list[str]:
        """`line` behind the lines that make the transposed copies it uses."""
        lines, self.copies = [*self.copies, line], []
        return lines
