# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.torch_op``: an op of Spanwise as an operator of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
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
        _Derivatives(operator, qualified, computation)
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


class _Derivatives:
    """A second operator, ``<qualified>__gradient``, as the derivative of `operator` and of itself, with
    their rules for autograd. torch.compile does not trace into it either. Its argument `orders` has for each
    order 0 and the numbers of outputs and of inputs that are differentiated, and these, for a derivative in
    reverse, or 1, 0 and the number of inputs that change, and these, for one in forward mode."""

    def __init__(self, operator: Any, qualified: str, computation: Computation) -> None:
        import torch

        self.operator, self.computation = operator, computation
        self.gradient = gradient = torch.library.custom_op(
            f"{qualified}__gradient",
            lambda inputs, orders: _compute(self._function_of(orders), inputs),
            mutates_args=(),
            schema="(Tensor[] inputs, int[] orders) -> Tensor[]",
        )
        gradient.register_fake(self._shapes)
        _operators[f"{qualified}__gradient"] = (gradient, gradient)
        self._functions: dict[tuple[int, ...], GraphFunction] = {}  # by orders
        operator.register_autograd(self.backward, setup_context=self.setup_context)
        gradient.register_autograd(
            self._backward_of_gradient, setup_context=self._setup_context_of_gradient
        )
        transformed = lru_cache(maxsize=None)(lambda orders: _transformed(self, orders))
        _take_transforms(operator, lambda *inputs: transformed(()).apply(*inputs))
        _take_transforms(
            gradient, lambda inputs, orders: list(transformed(tuple(orders)).apply(*inputs))
        )

    def _function_of(self, orders: Sequence[int]) -> GraphFunction:
        function: GraphFunction = self.computation
        rest = list(orders)
        while rest:
            is_forward, outputs, count = rest[:3]
            given, wrt = rest[3 : 3 + outputs], tuple(rest[3 + outputs : 3 + outputs + count])
            if is_forward:
                function = function.pushforward(wrt)
            else:
                function = function.pullback(tuple(map(bool, given)), wrt)
            rest = rest[3 + outputs + count :]
        return function

    def _shapes(self, inputs: Sequence[Any], orders: Sequence[int]) -> Any:
        types = self._function_of(orders).output_types(_types(inputs))
        return [inputs[0].new_empty(shape, dtype=_torch_dtype(dtype)) for dtype, shape in types]

    def _derivatives(
        self,
        inputs: Sequence[Any],
        output_gradients: Sequence[Any],
        needed: Sequence[bool],
        orders: Sequence[int],
    ) -> list[Any]:
        wrt = [i for i, is_needed in enumerate(needed) if is_needed]
        given = [int(dy is not None) for dy in output_gradients]
        order = (*orders, 0, len(given), len(wrt), *given, *wrt)
        arrays = [*inputs, *(dy for dy in output_gradients if dy is not None)]
        if _is_plain(arrays):
            if order not in self._functions:
                self._functions[order] = self._function_of(order)
            found = iter(_compute(self._functions[order], arrays))
        else:
            found = iter(self.gradient(arrays, order))
        return [next(found) if is_needed else None for is_needed in needed]

    def setup_context(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.save_for_backward(*inputs)
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.differentiable = [_is_differentiable(y) for y in outputs]

    def backward(self, ctx: Any, *output_gradients: Any, orders: Sequence[int] = ()) -> Any:
        cotangents = [
            dy if is_differentiable else None
            for dy, is_differentiable in zip(output_gradients, ctx.differentiable, strict=True)
        ]
        inputs, needed = ctx.saved_tensors, ctx.needs_input_grad
        return tuple(self._derivatives(inputs, cotangents, needed, orders))

    def _setup_context_of_gradient(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        arrays, ctx.orders = inputs
        ctx.save_for_backward(*arrays)

    def _backward_of_gradient(self, ctx: Any, output_gradients: Sequence[Any]) -> Any:
        arrays, needed = ctx.saved_tensors, ctx.needs_input_grad[0]
        return self._derivatives(arrays, output_gradients, needed, ctx.orders), None


def _transformed(rules: _Derivatives, orders: tuple[int, ...]) -> Any:
    """The call of the operator, or of its gradient of these orders, as a Function of autograd with rules for
    forward mode and torch.func, which operators of torch.library have not."""
    import torch

    operator, gradient = rules.operator, rules.gradient

    def call(inputs: Sequence[Any], is_raw: bool = False) -> Any:
        if orders:
            return tuple((gradient._opoverload if is_raw else gradient)(list(inputs), orders))
        return (operator._opoverload if is_raw else operator)(*inputs)

    class Transformed(torch.autograd.Function):
        @staticmethod
        def forward(*inputs: Any) -> Any:
            return call(inputs, is_raw=True)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
            pairs = list(zip(inputs, in_dims, strict=True))
            results = [
                call([x if axis is None else x.select(axis, k) for x, axis in pairs])
                for k in range(info.batch_size)
            ]
            if not isinstance(results[0], tuple):
                return torch.stack(results), 0
            columns = zip(*results, strict=True)
            return tuple(map(torch.stack, columns)), (0,) * len(results[0])

        @staticmethod
        def setup_context(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
            rules.setup_context(ctx, inputs, output)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *output_gradients: Any) -> Any:
            return rules.backward(ctx, *output_gradients, orders=orders)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            changing = [i for i, tangent in enumerate(tangents) if tangent is not None]
            order = [*orders, 1, 0, len(changing), *changing]
            arrays = [*ctx.saved_tensors, *(tangents[i] for i in changing)]
            changes = iter(gradient(arrays, order))
            found = tuple(next(changes) if each else None for each in ctx.differentiable)
            return found if orders or rules.computation.outputs > 1 else found[0]

    return Transformed


def _take_transforms(operator: Any, call: Callable[..., Any]) -> None:
    """Makes calls of `operator` in forward mode and in the transforms of torch.func those of `call`."""
    from torch._C import _functorch
    from torch.autograd import forward_ad
    from torch.compiler import is_compiling

    def is_transformed(args: Sequence[Any]) -> bool:
        if _functorch.peek_interpreter_stack() is not None:
            return True
        if forward_ad._current_level < 0:
            return False
        tensors = args[0] if isinstance(args[0], list) else args
        return any(forward_ad.unpack_dual(x).tangent is not None for x in tensors)

    class Operator(type(operator)):  # type: ignore[misc]
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if kwargs or is_compiling() or not is_transformed(args):
                return self._opoverload(*args, **kwargs)
            return call(*args)

    operator.__class__ = Operator


def _is_differentiable(x: Any) -> bool:
    dtype = x.dtype
    return bool(dtype.is_floating_point or dtype.is_complex)


def _is_plain(tensors: Sequence[Any]) -> bool:
    """Whether a call on `tensors` only computes: nothing records, traces or intercepts it, so that it does
    not have to go through PyTorch's dispatcher, which takes 50 us for an operator with lists."""
    import torch

    if torch.is_grad_enabled() or torch._C._len_torch_dispatch_stack() > 0:
        return False
    if torch.autograd.forward_ad._current_level >= 0:
        return False
    plain = (torch.Tensor, torch.nn.Parameter)
    return (
        all(type(x) in plain for x in tensors) and not torch._C._are_functorch_transforms_active()
    )


def _compute(function: GraphFunction, tensors: Sequence[Any]) -> list[Any]:
    key = tuple([(x.dtype, x.ndim, x.device) for x in tensors])
    compiled = function.found.get(key)
    if compiled is None:
        compiled = function.compiled(_types(tensors), _device(tensors), "torch")
        function.found[key] = compiled
    # The import of a plain tensor takes 0.1 us on the CPU, of one that requires grad, or of another class,
    # such as a parameter, 9 us, and more on a GPU.
    plain = _tensor_type()
    return compiled(  # type: ignore[no-any-return]
        *[x if type(x) is plain and not x.requires_grad else x.detach() for x in tensors]
    )


@lru_cache(maxsize=1)
def _tensor_type() -> Any:
    import torch

    return torch.Tensor


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
