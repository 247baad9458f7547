# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Spanwise's ops as ops of other frameworks, PyTorch and JAX: an op as a function of another
library's arrays, with gradients, its signature, and the types of its outputs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from .. import _core
from .._core import Apply, ArgumentError, GraphError, TensorType, Variable
from ..graph._function import Out, function
from ..graph._gradient import (
    check_kernel_gradient,
    converted_gradients,
    grad as graph_gradient,
    without_none,
)
from ..graph._kernel_op import KernelOp, kernel_parameters
from ..graph._op import Op, apply_registered
from ..graph._states import with_default_updates
from ..kernels._user_kernels import ElementwiseKernel


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


# ---- Signatures ----


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


# ---- Computations ----

#: The dtype and shape of an array. Extents of a traced program may be symbolic: not an int.
ArrayType = tuple[str, tuple[Any, ...]]


def imported(caller: str, framework: str, module: str) -> Any:
    """The module `module` of `framework`. Raises ImportError where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{caller}: expected {framework}, which is not installed; pip install {module}"
        ) from error


class Computation:
    """`op` as a function of arrays of the library `library`; its results are C-contiguous.

    A function is compiled for each combination of dtypes, ranks and device.
    """

    def __init__(
        self,
        caller: str,
        library: str,
        op: Callable[..., Any],
        name: str | None,
        grad: Any,
        outputs: int | None,
    ) -> None:
        if isinstance(op, ElementwiseKernel):
            op = ElementwiseOp(caller, op)
        self.name, self.inputs, self.outputs = signature_of(caller, op, name, outputs)
        self._caller, self._library = f"{caller}: {self.name}", library
        self._functions: dict[Any, Any] = {}
        self._grad = None
        if grad is not None and isinstance(op, KernelOp):
            make, (declaration,) = op.__reduce__()
            op = make({**declaration, "grad": grad})
            check_kernel_gradient(op)
        elif callable(grad):
            self._grad = grad
        elif grad is not None:
            raise TypeError(f"{self._caller}: grad: expected a function, got {grad!r}")
        self._op = op

    @property
    def has_gradient(self) -> bool:
        """Whether a gradient may exist: False for a kernel op without grad=."""
        return (
            not isinstance(self._op, KernelOp) or self._op._handle.declaration["grad"] is not None
        )

    def output_types(self, inputs: Sequence[ArrayType]) -> list[ArrayType]:
        """The types of the outputs. Raises what the op's make_node raises for inputs of other types,
        and ArgumentError for an extent that depends on values."""
        # An op of an element body declares no extents: its outputs have the broadcast shape.
        declares_extents = (
            isinstance(self._op, KernelOp) and "element_inputs" not in self._op._handle.declaration
        )
        if not declares_extents:
            inputs = [(dtype, tuple(int(extent) for extent in shape)) for dtype, shape in inputs]
        outputs = self._apply([_variable(dtype, shape) for dtype, shape in inputs])
        shapes = [tuple(output.type.shape) for output in outputs]
        if declares_extents:
            declared = _output_shapes_of(
                self._op._handle.declaration, [shape for _, shape in inputs]
            )
            shapes = [
                tuple(b if a is None else a for a, b in zip(*pair, strict=True))
                for pair in zip(shapes, declared, strict=True)
            ]
        if any(extent is None for shape in shapes for extent in shape):
            raise ArgumentError(
                f"{self._caller}: expected an op whose output shapes follow from the input shapes, got {outputs[0].type}; "
                "give extents as numbers, or as expressions of a kernel op, or in the output types of make_node"
            )
        return [(str(output.dtype), shape) for output, shape in zip(outputs, shapes, strict=True)]

    def __call__(self, arrays: Sequence[Any], types: Sequence[ArrayType], device: Any) -> list[Any]:
        """The outputs for `arrays` of the given types, computed on `device`."""
        ranks = tuple((dtype, len(shape)) for dtype, shape in types)
        key = (ranks, str(device))
        if key not in self._functions:
            inputs = [_variable(dtype, (None,) * rank) for dtype, rank in ranks]
            self._functions[key] = self._compiled(inputs, self._apply(inputs), self.name, device)
        return self._functions[key](*arrays)

    def gradient_function(
        self,
        types: Sequence[ArrayType],
        given_cotangents: Sequence[Any],
        wrt: Sequence[int],
        device: Any,
    ) -> Any:
        """A compiled function of the inputs and of `given_cotangents` that are not None: the derivatives
        with respect to the outputs, None for outputs without one. It returns those with respect to the
        inputs with the indices `wrt`. Raises GraphError where a derivative is undefined, and where it
        depends on a random draw."""
        ranks = tuple((dtype, len(shape)) for dtype, shape in types)
        has_cotangent = tuple(dy is not None for dy in given_cotangents)
        key = (ranks, str(device), has_cotangent, tuple(wrt))
        if key not in self._functions:
            inputs = [_variable(dtype, (None,) * rank) for dtype, rank in ranks]
            outputs = self._apply(inputs)
            cotangents = [
                y.type() if has else None for y, has in zip(outputs, has_cotangent, strict=True)
            ]
            derivatives = self._derivatives(inputs, outputs, cotangents, wrt)
            if with_default_updates(derivatives, inputs)[1]:
                raise GraphError(
                    f"{self._caller}: the derivative depends on a random draw or another state, which "
                    "has advanced since the outputs were computed; draw outside of the op, and pass the "
                    "numbers as an input"
                )
            variables = [*inputs, *(dy for dy in cotangents if dy is not None)]
            name = f"{self.name}_gradient"
            self._functions[key] = self._compiled(variables, derivatives, name, device)
        return self._functions[key]

    def _apply(self, inputs: Sequence[Variable]) -> list[Variable]:
        result = self._op(*inputs)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(outputs) != self.outputs or not all(isinstance(y, Variable) for y in outputs):
            raise GraphError(
                f"{self._caller}: expected {self.outputs} output variables, got {result!r}; pass outputs= for another number"
            )
        return outputs

    def _derivatives(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        cotangents: Sequence[Variable | None],
        wrt: Sequence[int],
    ) -> list[Variable]:
        if self._grad is None:
            known_grads = {
                y: dy for y, dy in zip(outputs, cotangents, strict=True) if dy is not None
            }
            variables = [inputs[i] for i in wrt]
            return graph_gradient(
                None, variables, known_grads=known_grads, disconnected_inputs="ignore"
            )
        gradients = converted_gradients(self.name, self._grad(inputs, without_none(cotangents)))
        if len(gradients) != len(inputs):
            raise GraphError(
                f"{self._caller}: grad: expected {len(inputs)} derivatives, got {len(gradients)}"
            )
        for i in wrt:
            if isinstance(gradients[i], str):
                raise GraphError(
                    f"{self._caller}: input {self.inputs[i]} has no derivative: {gradients[i]}"
                )
        return [_core._zeros_like(inputs[i]) if gradients[i] is None else gradients[i] for i in wrt]

    def _compiled(
        self, inputs: list[Variable], outputs: list[Variable], name: str, device: Any
    ) -> Any:
        results = [Out(apply_registered("contiguous", y), as_=self._library) for y in outputs]
        return function(inputs, results, name=name, device=device, on_unused_input="ignore")


def _variable(dtype: str, shape: Sequence[Any]) -> Variable:
    return TensorType(dtype, tuple(n if isinstance(n, int) else None for n in shape))()


def _output_shapes_of(
    declaration: Mapping[str, Any], shapes: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The output shapes of a kernel op for inputs that its make_node has accepted. Extents may be
    symbolic: Python evaluates the declared expressions, which are also Python's."""
    names = {"cdiv": lambda a, b: -(-a // b), "min": min, "max": max, **declaration["scalars"]}
    for parameter, shape in zip(kernel_parameters(declaration, "inputs"), shapes, strict=True):
        for extent, value in zip(parameter.extents, shape, strict=True):
            if extent.isidentifier():
                names.setdefault(extent, value)
    scope = {"__builtins__": {}}
    return [
        tuple(eval(extent, scope, names) for extent in parameter.extents)
        for parameter in kernel_parameters(declaration, "outputs")
    ]
