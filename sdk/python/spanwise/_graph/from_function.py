# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``as_op``: an op from a Python function (theano/compile/ops.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import Apply, GraphError, TensorType, Variable
from .op import Op
from .traversal import as_list


class FromFunctionOp(Op):
    """The op of as_op()."""

    __props__ = ("function",)

    def __init__(
        self,
        function: Callable[..., Any],
        itypes: Sequence[TensorType],
        otypes: Sequence[TensorType],
        grad: Callable[[list[Variable], list[Any]], Sequence[Any]] | None,
        infer_shape: Callable[[Apply, list[Any]], Sequence[Any]] | None,
    ) -> None:
        self.function = function
        self.itypes, self.otypes = list(itypes), list(otypes)
        if grad is not None:
            self.grad = grad
        if infer_shape is not None:
            self.infer_shape = infer_shape
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        results = self.function(*inputs)
        if len(output_storage) == 1:
            results = [results]
        if len(results) != len(output_storage):
            raise GraphError(f"{self}: expected {len(output_storage)} results, got {len(results)}")
        for cell, result in zip(output_storage, results, strict=True):
            cell[0] = result

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.__name__}}}"


def as_op(
    itypes: Any,
    otypes: Any,
    grad: Callable[[list[Variable], list[Any]], Sequence[Any]] | None = None,
    infer_shape: Callable[[Apply, list[Any]], Sequence[Any]] | None = None,
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Decorates a function of arrays; the result is an op that calls it.

    `itypes` and `otypes` are the types of the inputs and outputs, one or a list; T.fvector stands for
    the type of its variables. The function gets Spanwise arrays, which it must not change, and
    returns one array of any library for each output.
    ``grad(inputs, output_gradients)`` gives the derivatives as a method `grad` of an Op does, and
    ``infer_shape(node, input_shapes)`` the shapes.
    """

    def decorate(function: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(function, _types(itypes), _types(otypes), grad, infer_shape)

    return decorate


def _types(types: Any) -> list[TensorType]:
    return [_type(x) for x in as_list(types)]


def _type(x: Any) -> TensorType:
    if isinstance(x, TensorType):
        return x
    variable = x() if callable(x) else None
    if not isinstance(variable, Variable):
        raise TypeError(f"as_op: expected types such as T.fvector, got {x!r}")
    return variable.type
