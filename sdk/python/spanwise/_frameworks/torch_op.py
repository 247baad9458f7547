# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.torch_op``: an op of Spanwise as an operator of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any

from .._core import ArgumentError, NotSupportedError
from . import ArrayType, Computation, GraphFunction, imported

# Qualified name -> (definition, operator). The definition is (op, its declaration, grad, outputs).
# PyTorch frees an operator whose name is registered again, while functions may still call it, so no
# name is registered twice.
_operators: dict[str, tuple[Any, Any]] = {}


def torch_op(
    op: Callable[..., Any],
    *,
    name: str | None = None,
    grad: Any = None,
    outputs: int | None = None,
) -> Any:
    """Registers `op` with PyTorch as the operator ``spanwise::<name>`` and returns it, a
    ``torch.library`` custom op: a function of tensors, also ``torch.ops.spanwise.<name>``.

    `op` is an op (``sw.kernel_op``, a ``sw.Op``), an ElementwiseKernel declared by values, or a
    function of graph variables with a named parameter for each input. `name` is by default the op's
    name. `outputs` is the number of outputs where `op` does not declare it, by default 1; several
    are returned as a tuple.

    The inputs are tensors of any strides on the CPU or a GPU, of the dtypes that `op` accepts. The
    outputs are new C-contiguous tensors on the device of the first input on a GPU, else on the CPU.
    Inputs are imported without a copy, and work on a GPU is ordered after earlier and before later
    work of PyTorch's current stream. The first call for each combination of dtypes, ranks and device
    compiles the op.

    The operator has rules for shapes and dtypes (fake tensors) and for autograd, so torch.compile
    and torch.export keep it as one node of their graph. Its derivatives are those of `op`, or of
    ``grad(inputs, output_gradients)``, a function of variables as in ``sw.kernel_op``; for a kernel
    op also a dict; derivatives of higher orders are those of the graph of these. Registering the same op again returns the
    same operator; for another op of the same name the default `name` gets a number, such as
    "cube_2".

    Raises ImportError where PyTorch is not installed; TypeError for an `op` that is not callable;
    ArgumentError where it does not name its inputs, and for a `name` that is invalid or another op's. A
    call raises the errors of `op` for inputs that do not fit; backward() raises GraphError where a
    derivative is undefined.
    """
    torch = imported("torch_op", "PyTorch", "torch")
    computation = Computation("torch_op", op, name, grad, outputs)
    handle = getattr(op, "_handle", None)
    definition = (op, handle and handle.declaration, grad, outputs)
    qualified, registered = _find_operator(computation.name, definition, name is not None)
    if registered is not None:
        return registered

    def forward(*inputs: Any) -> Any:
        return _result(_compute(computation, inputs))

    def forward_shapes(*inputs: Any) -> Any:
        types = computation.output_types(_types(inputs))
        device = next((x.device for x in inputs if x.is_cuda), inputs[0].device)
        return _result(
            [
                torch.empty(shape, dtype=getattr(torch, dtype), device=device)
                for dtype, shape in types
            ]
        )

    inputs = ", ".join(f"Tensor {x}" for x in computation.input_names)
    results = ", ".join(["Tensor"] * computation.outputs)
    schema = f"({inputs}) -> " + (results if computation.outputs == 1 else f"({results})")
    operator = torch.library.custom_op(qualified, forward, mutates_args=(), schema=schema)
    operator.register_fake(forward_shapes)
    if computation.has_gradient:
        _register_gradient(operator, qualified, computation)
    _operators[qualified] = (definition, operator)
    # pickle asks the object. Another process registers the op again.
    operator.__reduce_ex__ = lambda protocol: (_registered, (op, name, grad, outputs))
    return operator


def _registered(op: Any, name: str | None, grad: Any, outputs: int | None) -> Any:
    """What a pickle of an operator makes."""
    return torch_op(op, name=name, grad=grad, outputs=outputs)


def _find_operator(name: str, definition: Any, is_explicit: bool) -> tuple[str, Any]:
    """(qualified name, operator) of the registered operator of this definition, or (an unused name,
    None). An explicit name is not changed: ArgumentError if another op has it."""
    if not name.isidentifier() or iskeyword(name):  # the name of a lambda is "lambda"
        raise ArgumentError(
            f"torch_op: expected a name of letters, digits and underscores, got {name!r}; pass name="
        )
    number, qualified = 1, f"spanwise::{name}"
    while qualified in _operators and _operators[qualified][0] != definition:
        if is_explicit:
            raise ArgumentError(
                f"torch_op: expected a name that no other op has, got {name!r}, which is registered as "
                f"torch.ops.spanwise.{name}; pass another name="
            )
        number += 1
        qualified = f"spanwise::{name}_{number}"
    return qualified, _operators.get(qualified, (None, None))[1]


def _register_gradient(operator: Any, qualified: str, computation: Computation) -> None:
    """Registers a second operator, ``<qualified>__gradient``, as the derivative of `operator` and of
    itself. torch.compile does not trace into it either. Its argument `orders` has for each order the
    numbers of outputs and of inputs that are differentiated, and these."""
    from torch import library

    def function_of(orders: Sequence[int]) -> GraphFunction:
        function: GraphFunction = computation
        rest = list(orders)
        while rest:
            outputs, count = rest[:2]
            given, wrt = rest[2 : 2 + outputs], rest[2 + outputs : 2 + outputs + count]
            function = function.pullback(tuple(map(bool, given)), tuple(wrt))
            rest = rest[2 + outputs + count :]
        return function

    def gradients(inputs: Sequence[Any], orders: Sequence[int]) -> Any:
        return _compute(function_of(orders), inputs)

    def gradient_shapes(inputs: Sequence[Any], orders: Sequence[int]) -> Any:
        types = function_of(orders).output_types(_types(inputs))
        return [inputs[0].new_empty(shape, dtype=_torch_dtype(dtype)) for dtype, shape in types]

    gradient = library.custom_op(
        f"{qualified}__gradient",
        gradients,
        mutates_args=(),
        schema="(Tensor[] inputs, int[] orders) -> Tensor[]",
    )
    gradient.register_fake(gradient_shapes)
    _operators[f"{qualified}__gradient"] = (gradient, gradient)

    def derivatives(
        inputs: Sequence[Any],
        output_gradients: Sequence[Any],
        needed: Sequence[bool],
        orders: Sequence[int] = (),
    ) -> list[Any]:
        wrt = [i for i, is_needed in enumerate(needed) if is_needed]
        given = [int(dy is not None) for dy in output_gradients]
        order = [len(given), len(wrt), *given, *wrt]
        arrays = [*inputs, *(dy for dy in output_gradients if dy is not None)]
        found = iter(gradient(arrays, [*orders, *order]))
        return [next(found) if is_needed else None for is_needed in needed]

    def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.save_for_backward(*inputs)
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.differentiable = [y.is_floating_point() or y.is_complex() for y in outputs]

    def backward(ctx: Any, *output_gradients: Any) -> Any:
        cotangents = [
            dy if is_differentiable else None
            for dy, is_differentiable in zip(output_gradients, ctx.differentiable, strict=True)
        ]
        return tuple(derivatives(ctx.saved_tensors, cotangents, ctx.needs_input_grad))

    def setup_gradient(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        arrays, ctx.orders = inputs
        ctx.save_for_backward(*arrays)

    def backward_of_gradient(ctx: Any, output_gradients: Sequence[Any]) -> Any:
        arrays, needed = ctx.saved_tensors, ctx.needs_input_grad[0]
        return derivatives(arrays, output_gradients, needed, ctx.orders), None

    operator.register_autograd(backward, setup_context=setup_context)
    gradient.register_autograd(backward_of_gradient, setup_context=setup_gradient)


def _compute(function: GraphFunction, tensors: Sequence[Any]) -> list[Any]:
    key = tuple([(x.dtype, x.ndim, x.device) for x in tensors])
    compiled = function.found.get(key)
    if compiled is None:
        compiled = function.compiled(_types(tensors), _device(tensors), "torch")
        function.found[key] = compiled
    return compiled(*tensors)  # type: ignore[no-any-return]


def _torch_dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)


def _types(tensors: Sequence[Any]) -> list[ArrayType]:
    return [(str(x.dtype).removeprefix("torch."), tuple(x.shape)) for x in tensors]


def _device(tensors: Sequence[Any]) -> Any:
    """The device of the first tensor on a GPU, else the CPU."""
    for x in tensors:
        if x.device.type == "cuda":
            return str(x.device)
        if x.device.type != "cpu":
            raise NotSupportedError(
                f"torch_op: expected tensors on the CPU or a CUDA device, got one on {x.device}; pass x.cpu()"
            )
    return "cpu"


def _result(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
