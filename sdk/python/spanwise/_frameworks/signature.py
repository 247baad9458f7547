# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The name, the inputs and the number of outputs of an op, a kernel or a function of variables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core import ArgumentError
from .._graph.kernel_op import KernelOp
from .._graph.kernel_parameters import kernel_parameters
from .._graph.op import Op
from .elementwise_op import ElementwiseOp


class Signature(NamedTuple):
    name: str
    inputs: tuple[str, ...]
    outputs: int


def signature_of(
    caller: str, op: Callable[..., Any], name: str | None, outputs: int | None
) -> Signature:
    """The signature of `op`; `name` and `outputs` are the caller's values, or None.

    Raises TypeError for an object that is not callable, ArgumentError where the inputs are not known
    or `outputs` contradicts the op.
    """
    if not callable(op):
        raise TypeError(
            f"{caller}: expected an op, such as the result of sw.kernel_op, or a function of variables, got {op!r}"
        )
    declared: int | None  # number of outputs
    if isinstance(op, KernelOp):
        declaration = op._handle.declaration
        inputs = [parameter.name for parameter in kernel_parameters(declaration, "inputs")]
        declared = len(declaration["outputs"])
    elif isinstance(op, ElementwiseOp):
        inputs, declared = list(op.inputs), op.outputs
    else:
        inputs = _parameters(caller, op)
        declared = len(op.otypes) if isinstance(op, Op) and op.otypes is not None else None
    if outputs is not None and (outputs < 1 or outputs != (declared or outputs)):
        raise ArgumentError(
            f"{caller}: {op}: expected {declared or 'at least 1'} outputs, got {outputs}"
        )
    return Signature(name or _name(op), tuple(inputs), declared or outputs or 1)


def _name(op: Any) -> str:
    text = str(op) if isinstance(op, Op) else getattr(op, "__name__", type(op).__name__)
    return re.sub(r"\W+", "_", text).strip("_")


def _parameters(caller: str, op: Any) -> list[str]:
    """The names of the inputs of a function of variables or of an op in Python."""
    if isinstance(op, Op) and op.itypes is not None:
        return [f"x{i}" for i in range(len(op.itypes))]
    function = op.make_node if isinstance(op, Op) else op
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [
        p for p in inspect.signature(function).parameters.values() if p.default is p.empty
    ]
    if not parameters or any(p.kind not in positional for p in parameters):
        raise ArgumentError(
            f"{caller}: {op}: expected parameters that name the inputs, got {inspect.signature(function)}; "
            "pass a function, such as lambda x, y: op(x, y), and name="
        )
    return [p.name for p in parameters]
