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
    Rop,
    check_kernel_gradient,
    converted_gradients,
    grad as graph_gradient,
    is_differentiable,
    without_none,
)
from ..graph._kernel_op import KernelOp, kernel_parameters
from ..graph._op import NativeOp, Op, apply_registered
from ..graph._states import with_default_updates
from ..graph._traversal import ancestors
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


_ufunc = type(_core.add)


class GraphFunction:
    """A function of arrays, computed by a graph, and the functions of its derivatives.

    A function is compiled for each combination of dtypes, ranks and device.
    """

    name: str
    #: For messages.
    label: str
    #: The number of inputs.
    inputs: int

    def __init__(self) -> None:
        self._compiled: dict[Any, Any] = {}
        #: Compiled functions by keys of a framework's own, which are faster to make.
        self.found: dict[Any, Any] = {}
        self._derived: dict[Any, GraphFunction] = {}

    def apply(self, inputs: Sequence[Variable]) -> list[Variable]:
        """The outputs as variables."""
        raise NotImplementedError

    def output_types(self, inputs: Sequence[ArrayType]) -> list[ArrayType]:
        """The types of the outputs. Raises what the op's make_node raises for inputs of other types,
        and ArgumentError for an extent that depends on values."""
        raise NotImplementedError

    def is_elementwise(self, types: Sequence[ArrayType]) -> bool:
        """Whether each element of the outputs depends only on the elements of the inputs of the same
        index, so that further leading axes, the same for all, may be added to inputs of these types."""
        shapes = {shape for _, shape in types}
        if len(shapes) != 1:
            return False
        inputs = [_variable(dtype, shape) for dtype, shape in types]
        outputs = self.apply(inputs)
        return all(y.type.shape in shapes for y in outputs) and all(
            isinstance(node.op, NativeOp)
            and isinstance(getattr(_core, (node.op.recipe or ("",))[0], None), _ufunc)
            and all(x.type.shape == y.type.shape or x.type.ndim == 0 for x in node.inputs)
            for node in ancestors(outputs, inputs)
            for y in node.outputs
        )

    def compiled(self, types: Sequence[ArrayType], device: Any, library: str | None = None) -> Any:
        """The compiled function for arrays of these dtypes and ranks on `device`. Its results are
        C-contiguous arrays of `library`. Raises GraphError where a derivative is undefined, and where
        it depends on a random draw."""
        ranks = tuple((dtype, len(shape)) for dtype, shape in types)
        key = (ranks, str(device), library)
        if key not in self._compiled:
            inputs = [_variable(dtype, (None,) * rank) for dtype, rank in ranks]
            outputs = self.apply(inputs)
            if library is not None:
                outputs = [Out(apply_registered("contiguous", y), as_=library) for y in outputs]
            self._compiled[key] = function(
                inputs, outputs, name=self.name, device=device, on_unused_input="ignore"
            )
        return self._compiled[key]

    def pullback(self, given: Sequence[bool], wrt: Sequence[int]) -> GraphFunction:
        """The derivatives with respect to the inputs `wrt`, as a function of the inputs and of the
        derivatives with respect to the outputs, of which only those that `given` marks are passed."""
        key = (tuple(given), tuple(wrt))
        return self._derived.setdefault(key, _Pullback(self, *key))

    def pushforward(self, wrt: Sequence[int]) -> GraphFunction:
        """The changes of the differentiable outputs, as a function of the inputs and of the changes of
        the inputs `wrt`."""
        key = tuple(wrt)
        return self._derived.setdefault(key, _Pushforward(self, key))

    def derivatives(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        cotangents: Sequence[Variable | None],
        wrt: Sequence[int],
    ) -> list[Variable]:
        """The derivatives with respect to the inputs `wrt`."""
        known = {y: dy for y, dy in zip(outputs, cotangents, strict=True) if dy is not None}
        variables = [inputs[i] for i in wrt]
        return graph_gradient(None, variables, known_grads=known, disconnected_inputs="ignore")

    def directional(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        tangents: Sequence[Variable],
        wrt: Sequence[int],
    ) -> list[Variable]:
        """The changes of `outputs`, all differentiable, where the inputs `wrt` change by `tangents`."""
        variables = [inputs[i] for i in wrt]
        return Rop(list(outputs), variables, list(tangents), disconnected_outputs="ignore")


class _Derivative(GraphFunction):
    """A derivative of the function `of`: a function of its inputs and of `directions` further ones."""

    def __init__(self, of: GraphFunction, name: str, directions: int) -> None:
        super().__init__()
        self.name, self.label = f"{of.name}_{name}", of.label
        self.inputs = of.inputs + directions
        self._of = of

    def is_elementwise(self, types: Sequence[ArrayType]) -> bool:
        # The outputs are made too, also where the derivative does not depend on them.
        return self._of.is_elementwise(types[: self._of.inputs]) and super().is_elementwise(types)

    def _checked(self, derivatives: list[Variable], inputs: Sequence[Variable]) -> list[Variable]:
        if with_default_updates(derivatives, list(inputs))[1]:
            raise GraphError(
                f"{self.label}: the derivative depends on a random draw or another state, which "
                "has advanced since the outputs were computed; draw outside of the op, and pass the "
                "numbers as an input"
            )
        return derivatives


class _Pullback(_Derivative):
    def __init__(self, of: GraphFunction, given: tuple[bool, ...], wrt: tuple[int, ...]) -> None:
        super().__init__(of, "gradient", sum(given))
        self._given, self._wrt = given, wrt

    def apply(self, inputs: Sequence[Variable]) -> list[Variable]:
        primals, directions = inputs[: self._of.inputs], iter(inputs[self._of.inputs :])
        outputs = self._of.apply(primals)
        cotangents = [next(directions) if is_given else None for is_given in self._given]
        found = self._of.derivatives(primals, outputs, cotangents, self._wrt)
        return self._checked(found, inputs)

    def output_types(self, inputs: Sequence[ArrayType]) -> list[ArrayType]:
        return [inputs[i] for i in self._wrt]


class _Pushforward(_Derivative):
    def __init__(self, of: GraphFunction, wrt: tuple[int, ...]) -> None:
        super().__init__(of, "tangent", len(wrt))
        self._wrt = wrt

    def apply(self, inputs: Sequence[Variable]) -> list[Variable]:
        primals, tangents = inputs[: self._of.inputs], inputs[self._of.inputs :]
        outputs = [y for y in self._of.apply(primals) if is_differentiable(y)]
        return self._checked(self._of.directional(primals, outputs, tangents, self._wrt), inputs)

    def is_elementwise(self, types: Sequence[ArrayType]) -> bool:
        try:
            return super().is_elementwise(types)
        except GraphError:  # there is only a gradient, to which JAX transposes this function
            return False

    def output_types(self, inputs: Sequence[ArrayType]) -> list[ArrayType]:
        types = self._of.output_types(inputs[: self._of.inputs])
        return [each for each in types if is_differentiable(_variable(each[0], ()))]


class Computation(GraphFunction):
    """`op` as a function of arrays, with the gradient `grad` in the place of its own."""

    def __init__(
        self, caller: str, op: Callable[..., Any], name: str | None, grad: Any, outputs: int | None
    ) -> None:
        super().__init__()
        if isinstance(op, ElementwiseKernel):
            op = ElementwiseOp(caller, op)
        self.name, self.input_names, self.outputs = signature_of(caller, op, name, outputs)
        self.inputs = len(self.input_names)
        self.label = f"{caller}: {self.name}"
        self._grad = None
        if grad is not None and isinstance(op, KernelOp):
            make, (declaration,) = op.__reduce__()
            op = make({**declaration, "grad": grad})
            check_kernel_gradient(op)
        elif callable(grad):
            self._grad = grad
        elif grad is not None:
            raise TypeError(f"{self.label}: grad: expected a function, got {grad!r}")
        self._op = op

    @property
    def has_gradient(self) -> bool:
        """Whether a gradient may exist: False for a kernel op without grad=."""
        return (
            not isinstance(self._op, KernelOp) or self._op._handle.declaration["grad"] is not None
        )

    def is_elementwise(self, types: Sequence[ArrayType]) -> bool:
        if isinstance(self._op, ElementwiseOp):
            return not any(self._op._is_raw)
        if isinstance(self._op, KernelOp):
            return "element_inputs" in self._op._handle.declaration
        return super().is_elementwise(types)

    def output_types(self, inputs: Sequence[ArrayType]) -> list[ArrayType]:
        # An op of an element body declares no extents: its outputs have the broadcast shape.
        declares_extents = (
            isinstance(self._op, KernelOp) and "element_inputs" not in self._op._handle.declaration
        )
        if not declares_extents:
            inputs = [(dtype, tuple(int(extent) for extent in shape)) for dtype, shape in inputs]
        outputs = self.apply([_variable(dtype, shape) for dtype, shape in inputs])
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
                f"{self.label}: expected an op whose output shapes follow from the input shapes, got {outputs[0].type}; "
                "give extents as numbers, or as expressions of a kernel op, or in the output types of make_node"
            )
        return [(str(output.dtype), shape) for output, shape in zip(outputs, shapes, strict=True)]

    def apply(self, inputs: Sequence[Variable]) -> list[Variable]:
        result = self._op(*inputs)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(outputs) != self.outputs or not all(isinstance(y, Variable) for y in outputs):
            raise GraphError(
                f"{self.label}: expected {self.outputs} output variables, got {result!r}; pass outputs= for another number"
            )
        return outputs

    def derivatives(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        cotangents: Sequence[Variable | None],
        wrt: Sequence[int],
    ) -> list[Variable]:
        if self._grad is None:
            return super().derivatives(inputs, outputs, cotangents, wrt)
        gradients = converted_gradients(self.name, self._grad(inputs, without_none(cotangents)))
        if len(gradients) != len(inputs):
            raise GraphError(
                f"{self.label}: grad: expected {len(inputs)} derivatives, got {len(gradients)}"
            )
        for i in wrt:
            if isinstance(gradients[i], str):
                raise GraphError(
                    f"{self.label}: input {self.input_names[i]} has no derivative: {gradients[i]}"
                )
        return [_core._zeros_like(inputs[i]) if gradients[i] is None else gradients[i] for i in wrt]

    def directional(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        tangents: Sequence[Variable],
        wrt: Sequence[int],
    ) -> list[Variable]:
        if self._grad is None:
            return super().directional(inputs, outputs, tangents, wrt)
        # `grad` is linear in the derivatives with respect to the outputs: its derivative with respect
        # to them, in the direction of the tangents, is what changes the outputs.
        rows = [_core._zeros_like(y) if is_differentiable(y) else None for y in self.apply(inputs)]
        columns = self.derivatives(inputs, outputs, rows, wrt)
        known = dict(zip(columns, tangents, strict=True))
        wanted = [row for row in rows if row is not None]
        return graph_gradient(None, wanted, known_grads=known, disconnected_inputs="ignore")


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
