# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Each operation as one CUDAMat call. CUDAMat's methods write to their operand unless target= is
given, so each call gets a new matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import NotSupportedError
from ._program import Program
from ._tree import Node

FUNCTIONS = {
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "abs": "abs",
    "absolute": "abs",
    "fabs": "abs",
    "sigmoid": "sigmoid",
    "softplus": "log_1_plus_exp",
}
COMPARISONS = {"less": "less_than", "greater": "greater_than", "equal": "equals"}
_MIRRORED = {"less": "greater", "greater": "less", "equal": "equal"}
EXTREMA = ("maximum", "minimum")
REDUCTIONS = ("sum", "mean", "max", "min")
# (method for equal shapes, for a column vector, for a row vector)
ARITHMETIC = {
    "add": ("add", "add_col_vec", "add_row_vec"),
    "multiply": ("mult", "mult_by_col", "mult_by_row"),
    "divide": ("divide", "div_by_col", "div_by_row"),
    "subtract": ("subtract", "add_col_vec", "add_row_vec"),
}


def unsupported(node: Node, reason: str) -> NotSupportedError:
    """The error for an operation that CUDAMat does not have."""
    return NotSupportedError(
        f"CUDAMat: {node.function} at {node.place}: {reason}; use asNumpy() or asCUDA()"
    )


class CudamatWriter:
    """Writes the calls of a program's steps. Matrices are named as in the program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        #: Name of a transposed step that has not been copied -> name of its operand.
        self.transposed: dict[str, str] = {}
        #: Lines that copy transposed steps, to be written before the line that uses them.
        self.copies: list[str] = []

    # ---- Operands ----

    def _matrices(self, node: Node, count: int) -> list[Node]:
        """The arguments of `node`, which must be `count` matrices."""
        matrices = [x for x in node.args if isinstance(x, Node)]
        if len(matrices) != count or len(node.args) != count:
            raise unsupported(node, f"expected {count} matrices")
        return matrices

    def _factor(self, node: Node) -> str:
        """A matrix, transposed without a copy if it is a transposed step, as cm.dot takes it."""
        name = self.program.names[id(node)]
        return f"{self.transposed[name]}.T" if name in self.transposed else name

    def _matrix(self, node: Node) -> str:
        """A matrix, a copy if it is a transposed step."""
        name = self.program.names[id(node)]
        if name in self.transposed:
            self.copies.append(f"{name} = {self.transposed.pop(name)}.transpose()")
        return name

    def _value(self, node: Node, x: Any) -> str:
        """A matrix of the shape of `node`, or a number."""
        if isinstance(x, Node):
            if x.shape != node.shape:
                raise unsupported(node, f"it does not broadcast {x.shape} to {node.shape}")
            return self._matrix(x)
        return number(node, x)

    # ---- Operations ----

    def _function(self, node: Node) -> str:
        (x,) = self._matrices(node, 1)
        return f"cm.{FUNCTIONS[node.function]}({self._matrix(x)}, target={_new(node)})"

    def _reduction(self, node: Node) -> str:
        options = dict(zip(("axis",), node.args[1:], strict=False)) | node.kwargs
        axis, keeps = options.pop("axis", None), options.pop("keepdims", False)
        options.pop("dtype", None)  # the dtype of the result is checked
        if options or not keeps:
            raise unsupported(node, "it takes axis and keepdims=True only")
        listed = (0, 1) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        (x,) = (a for a in node.args[:1] if isinstance(a, Node))
        calls = "".join(f".{node.function}(axis={a})" for a in sorted(a % 2 for a in listed))
        return self._matrix(x) + calls

    def _arithmetic(self, node: Node) -> str:
        x, y = node.args
        if not isinstance(x, Node):
            return self._number_first(node, number(node, x), self._matrix(y))
        method, column, row = ARITHMETIC[node.function]
        if not isinstance(y, Node):
            return f"{self._matrix(x)}.{method}({number(node, y)}, target={_new(node)})"
        left, right, is_swapped = self._matrix(x), self._matrix(y), x.shape != node.shape
        if x.shape == y.shape:
            return f"{left}.{method}({right}, target={_new(node)})"
        if is_swapped and y.shape != node.shape:
            raise unsupported(node, f"it does not broadcast both {x.shape} and {y.shape}")
        if node.function == "subtract":
            right = f"{right}.mult(-1.0, target=cm.empty({y.shape}))"
        elif is_swapped and node.function == "divide":  # x / y = (1 / y) * x
            right = f"{right}.reciprocal(target=cm.empty({y.shape}))"
            _, column, row = ARITHMETIC["multiply"]
        full, vector, shape = (right, left, x.shape) if is_swapped else (left, right, y.shape)
        method = column if shape == (node.shape[0], 1) else row
        return f"{full}.{method}({vector}, target={_new(node)})"

    def _number_first(self, node: Node, left: str, right: str) -> str:
        if node.function == "subtract":
            return f"{right}.mult(-1.0, target={_new(node)}).add({left})"
        if node.function == "divide":
            scale = "" if left == "1.0" else f".mult({left})"
            return f"{right}.reciprocal(target={_new(node)}){scale}"
        return f"{right}.{ARITHMETIC[node.function][0]}({left}, target={_new(node)})"

    def _comparison(self, node: Node) -> str:
        """A comparison or an extremum."""
        (x, y), function = node.args, node.function
        if not isinstance(x, Node):
            x, y, function = y, x, _MIRRORED.get(function, function)
        method = COMPARISONS.get(function, function)
        return f"{self._value(node, x)}.{method}({self._value(node, y)}, target={_new(node)})"

    def _power(self, node: Node) -> str:
        x = node.args[0]
        if not isinstance(x, Node):
            raise unsupported(node, "the base must be a matrix")
        matrix = self._value(node, x)
        if node.function == "power":
            return f"cm.pow({matrix}, {self._value(node, node.args[1])}, target={_new(node)})"
        call = {"square": f"mult({matrix}, ", "negative": "mult(-1.0, ", "positive": "mult(1.0, "}
        start = call.get(node.function, f"{node.function}(")
        return f"{matrix}.{start}target={_new(node)})"

    def _where(self, node: Node) -> str:
        operands = [
            self._value(node, x)
            if isinstance(x, Node)
            else f"{_new(node)}.assign({number(node, x)})"
            for x in node.args
        ]
        return f"cm.where({', '.join(operands)}, target={_new(node)})"

    def _broadcast(self, node: Node) -> str:
        x = node.args[0]
        zeros = f"{_new(node)}.assign(0.0)"
        if x.shape == node.shape:
            return f"{zeros}.add({self._matrix(x)})"
        method = "add_col_vec" if x.shape == (node.shape[0], 1) else "add_row_vec"
        if method == "add_row_vec" and x.shape != (1, node.shape[1]):
            raise unsupported(node, f"it does not broadcast {x.shape} to {node.shape}")
        return f"{zeros}.{method}({self._matrix(x)})"


def _new(node: Node) -> str:
    return f"cm.empty({node.shape})"


def number(node: Node, x: Any) -> str:
    """A scalar argument as text; CUDAMat takes int and float only."""
    if isinstance(x, tuple | list | complex):
        raise unsupported(node, f"expected a matrix or a real number, got {x!r}")
    value = float(x)
    return repr(value) if np.isfinite(value) else f'float("{value}")'
