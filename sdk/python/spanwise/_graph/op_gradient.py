# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The gradient methods of Python ops (``grad``, ``L_op``, ``R_op``, ``connection_pattern``),
``grad=`` of ``kernel_op``, and their results that are no variables. The interface is that of Theano
(theano/gradient.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Apply, ArgumentError, GraphError, Variable

GradFunction = Callable[[Sequence[Variable], Sequence[Any]], Sequence[Any]]


class DisconnectedType:
    """The type of a derivative of a cost that does not depend on the variable:
    ``DisconnectedType()()`` is such a derivative, and ``isinstance(g.type, DisconnectedType)``
    recognises one."""

    def __call__(self, name: str | None = None) -> _Disconnected:
        return _Disconnected()

    def __str__(self) -> str:
        return "DisconnectedType"


class _Disconnected:
    type = DisconnectedType()

    def __repr__(self) -> str:
        return "<DisconnectedType>"


class _Undefined:
    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"<undefined derivative: {self.reason}>"


def grad_undefined(op: Any, x_pos: int, x: Variable, comment: str = "") -> Any:
    """A derivative with respect to input `x_pos` of `op` that is not defined mathematically.
    grad() raises GraphError with `comment` where it is needed."""
    return _Undefined(comment or f"{op} has no derivative with respect to input {x_pos}")


def grad_not_implemented(op: Any, x_pos: int, x: Variable, comment: str = "") -> Any:
    """As grad_undefined(), for a derivative that `op` does not implement."""
    return _Undefined(comment or f"{op} does not implement the derivative of input {x_pos}")


def without_none(derivatives: Sequence[Variable | None]) -> list[Any]:
    """The derivatives, with a disconnected one in the place of None."""
    return [DisconnectedType()() if g is None else g for g in derivatives]


def op_gradient(op: Any, node: Apply, cotangents: list[Variable | None]) -> list[Any]:
    """The derivatives with respect to the inputs of `node` by ``op.L_op`` or ``op.grad``, from those
    with respect to its outputs: a Variable, None if disconnected, or the reason why it is undefined.
    Raises GraphError for another result."""
    output_gradients = without_none(cotangents)
    if hasattr(op, "L_op"):
        result = op.L_op(node.inputs, node.outputs, output_gradients)
    elif hasattr(op, "grad"):
        result = op.grad(node.inputs, output_gradients)
    else:
        return ["the op defines neither grad() nor L_op()"] * len(node.inputs)
    return converted_gradients(op, result)


def converted_gradients(op: Any, result: Any) -> list[Any]:
    """The `result` of a gradient method of `op`, in the form of op_gradient()."""
    if not isinstance(result, (list, tuple)):
        raise GraphError(
            f"{op}: grad must return a list with one derivative for each input, got {result!r}"
        )
    return [_converted(op, derivative) for derivative in result]


def _converted(op: Any, derivative: Any) -> Any:
    """One derivative in the form of op_gradient()."""
    if derivative is None or isinstance(getattr(derivative, "type", None), DisconnectedType):
        return None
    if isinstance(derivative, _Undefined):
        return derivative.reason
    if not isinstance(derivative, Variable):
        raise GraphError(f"{op}: grad must return variables, got {derivative!r}")
    return derivative


def is_differentiable(x: Variable) -> bool:
    """Whether `x` is of a floating or complex dtype."""
    return x.dtype.kind in "fc" or x.dtype.name == "bfloat16"


def op_directional(node: Apply, columns: Sequence[Variable | None]) -> list[Variable | None]:
    """The derivatives of the outputs of `node` by its op's ``R_op(inputs, eval_points)``, where its
    inputs change by `columns` (None: not at all); None for an output that does not change. Raises
    GraphError for another result."""
    op: Any = node.op
    result = op.R_op(node.inputs, list(columns))
    if not isinstance(result, (list, tuple)) or len(result) != len(node.outputs):
        raise GraphError(
            f"{op}: R_op must return a list with one derivative for each of the {len(node.outputs)} "
            f"outputs, got {result!r}"
        )
    derivatives = []
    for output, derivative in zip(node.outputs, result, strict=True):
        if derivative is not None and not isinstance(derivative, Variable):
            derivative = _converted(op, derivative)
        if isinstance(derivative, str):
            raise GraphError(f"Rop: no derivative of {output} by {op}: {derivative}")
        if derivative is not None and derivative.ndim != output.ndim:
            raise GraphError(
                f"{op}: R_op gives a derivative of rank {derivative.ndim} for {output} of "
                f"{output.type}; expected the rank of the output"
            )
        derivatives.append(None if derivative is None else derivative.astype(output.dtype))
    return derivatives


def op_connects(op: Any, node: Apply, input: int, output: int) -> bool:
    """Whether `output` depends on the values of `input`, by ``op.connection_pattern(node)``: a list
    with a row of booleans for each input; without that method every output on every input."""
    if not hasattr(op, "connection_pattern"):
        return True
    return bool(op.connection_pattern(node)[input][output])


def _declared_names(op: Any, kind: str) -> list[str]:
    """The names of the "inputs" or "outputs" of a kernel op."""
    declaration = getattr(getattr(op, "_handle", None), "declaration", None)
    if declaration is None:
        raise ArgumentError(f"kernel_op: grad: expected an op made by kernel_op, got {op!r}")
    return _names(declaration[kind])


def _names(declared: Sequence[str]) -> list[str]:
    return [text.partition(":")[0].strip() for text in declared]


def check_kernel_gradient(op: Any) -> None:
    """Raises TypeError or ArgumentError where grad= of the kernel op does not fit its declaration."""
    declaration = op._handle.declaration
    grad, name = declaration["grad"], declaration["name"]
    if grad is None or callable(grad):
        return
    if not isinstance(grad, Mapping):
        raise TypeError(f"kernel_op {name}: grad: expected a function or a dict, got {grad!r}")
    inputs, outputs = _names(declaration["inputs"]), _names(declaration["outputs"])
    known = [*inputs, *outputs, *("d" + output for output in outputs)]
    for key, gradient_op in grad.items():
        if key not in inputs:
            raise ArgumentError(
                f"kernel_op {name}: grad has an entry for {key!r}; the op has the inputs: "
                + ", ".join(inputs)
            )
        for input_name in _declared_names(gradient_op, "inputs"):
            if input_name not in known:
                raise ArgumentError(
                    f"kernel_op {name}: grad[{key!r}] has an input {input_name!r}; expected "
                    + ", ".join(known[:-1])
                    + f" or {known[-1]}"
                )
        if len(_declared_names(gradient_op, "outputs")) != 1:
            raise ArgumentError(f"kernel_op {name}: grad[{key!r}]: expected an op with one output")


def kernel_gradient(
    declaration: Mapping[str, Any], node: Apply, cotangents: list[Variable | None]
) -> list[Any]:
    """op_gradient() for a kernel op with grad=."""
    grad = declaration["grad"]
    if callable(grad):
        return converted_gradients(node.op, grad(node.inputs, without_none(cotangents)))
    inputs, names = _names(declaration["inputs"]), _names(declaration["outputs"])
    values = dict(zip(inputs, node.inputs, strict=True))
    for name, output, derivative in zip(names, node.outputs, cotangents, strict=True):
        values[name] = output
        values["d" + name] = _core._zeros_like(output) if derivative is None else derivative

    def applied(name: str) -> Any:
        if name not in grad:
            return f"grad= has no entry for {name}"
        return grad[name](*(values[key] for key in _declared_names(grad[name], "inputs")))

    return [applied(name) for name in inputs]
