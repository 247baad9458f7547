# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What Theano shows of graphs, of compiled functions and of variables: its nodes, types and op names, and
profiles in its format.

Spanwise copies arguments to the device and results to the host outside of its program; here these
copies are nodes, GpuFromHost and HostFromGpu, as in Theano. Spanwise's operations take operands of
several ranks; where variables are not compiled, Theano gives each the rank of the result first, by a
DimShuffle. A product is a Dot there, whatever the ranks are; the extents of a Reshape are one vector;
and ``inc_subtensor`` is one node.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from spanwise.graph import Constant, FunctionGraph, SharedVariable, ancestors, recipe_of
from spanwise.profile import Row, Tables, grouped, percent
from spanwise.tensor import constant

from ._config import devices, is_host
from ._ops import (
    GPU_KINDS,
    DimShuffle,
    Dot,
    IncSubtensor,
    MakeVector,
    ScalarFromTensor,
    describe,
    integers_of,
    new_axes_of,
    operand_count,
)

_LONGEST, _END = 20, 10  # characters of a whole text, and of each end of a shortened one


def constant_text(values: Any, kind: str = "TensorConstant") -> str:
    """``TensorConstant{2.0}``: the value; for an array of equal values its shape and one of them;
    the middle of a long text is left out."""
    values = np.asarray(values)
    if values.ndim and values.size and (values == values.flat[0]).all():
        text = f"{values.shape} of {values.flat[0]}"
    else:
        text = str(values)
    if len(text) > _LONGEST:
        text = f"{text[:_END]}..{text[-_END:]}"
    return f"{kind}{{{text}}}"


def small_constant_key(variable: Any) -> tuple[Any, ...] | None:
    """A key that is equal for equal constants of one number from -10 to 10, which Theano merges; None
    for other variables."""
    if not isinstance(variable, Constant) or variable.name is not None or variable.value.size != 1:
        return None
    value = variable.value.numpy().item()
    if not isinstance(value, (bool, int, float)) or not -10 <= value <= 10:
        return None
    return str(variable.type), repr(value)  # 0.0 and -0.0 differ


def added_constants(node: Any) -> tuple[list[Any], list[Any]]:
    """Settings of Spanwise's op that are inputs in Theano, before and after the other inputs: the
    axis of a Join, the shape of a Reshape."""
    name, settings = recipe_of(node.op)
    if name == "concatenate":
        return [settings["axis"]], []
    if name == "reshape" and len(node.inputs) == 1:
        return [], [np.array(settings["shape"], "int64")]
    return [], []


# ---- Types, variables, nodes and graphs ----


_NAMES_BY_RANK = ("scalar", "vector", "matrix", "3D", "4D", "5D")
_NAMED_PATTERNS = {(True, False): "row", (False, True): "col"}


class ViewType:
    """A type with Theano's text: dtype, broadcastable axes, and the device."""

    def __init__(self, dtype: Any, broadcastable: Sequence[bool], device: Any) -> None:
        self.dtype = str(dtype)
        self.broadcastable = tuple(broadcastable)
        self.ndim = len(self.broadcastable)
        self.device = str(device)

    def __str__(self) -> str:
        if not is_host(self.device) and devices.dialect == "cuda":
            context = devices.context_of(self.device)
            if context is None:
                return f"GpuArray<{self.dtype}>"
            return f"GpuArrayType<{context}>({self.dtype}, {self.broadcastable})"
        pattern: Any = self.broadcastable
        shape: Any = _NAMED_PATTERNS.get(pattern, pattern)
        if not any(self.broadcastable) and self.ndim < len(_NAMES_BY_RANK):
            shape = _NAMES_BY_RANK[self.ndim]
        name = "TensorType" if is_host(self.device) else "CudaNdarrayType"
        return f"{name}({self.dtype}, {shape})"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.dtype, self.broadcastable, self.device))


class ScalarType(ViewType):
    """The type of an integer in an index."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype, (), "cpu")

    def __str__(self) -> str:
        return self.dtype


def type_of(variable: Any, device: Any = None) -> ViewType:
    """The type of `variable`; `device` is used if its own type names none."""
    own = variable.type.device
    return ViewType(variable.dtype, variable.type.broadcastable, own or device or "cpu")


class ViewVariable:
    """A variable of a view graph; `source` is the variable that it shows."""

    def __init__(
        self, source: Any, type: ViewType, owner: ViewApply | None = None, index: int = 0
    ) -> None:
        self.source, self.type, self.owner = source, type, owner
        self.index = index if owner is not None else None
        self.name = source.name if owner is None or not owner.is_added else None
        if owner is not None and self.name is None:
            self.name = _name_of_transposed(owner)
        self.tag = source.tag
        #: The pairs (node that reads the variable, number of its input) and ("output", number) of a function.
        self.clients: list[tuple[Any, int]] = []
        self.dtype, self.ndim, self.broadcastable = type.dtype, type.ndim, type.broadcastable

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is not None:
            return f"{self.owner.op}.{self.index}"
        if isinstance(self.type, ScalarType):
            return f"Constant{{{self.source.value.numpy()}}}"
        if isinstance(self.source, Constant):
            kinds = {"gpu": "CudaNdarrayConstant", "cuda": "GpuArrayConstant"}
            kind = "TensorConstant" if is_host(self.type.device) else kinds[devices.dialect]
            return constant_text(self.source.value.numpy(), kind)
        return f"<{self.type}>"

    __repr__ = __str__


class ViewApply:
    """A node of a view graph; `source` is the node that it shows, None for a node that only Theano
    has."""

    def __init__(
        self,
        op: Any,
        inputs: list[ViewVariable],
        outputs: Sequence[tuple[Any, ViewType]],
        source: Any = None,
    ) -> None:
        self.op, self.inputs, self.source = op, inputs, source
        self.is_added = source is None
        self.outputs = [ViewVariable(v, kind, self, i) for i, (v, kind) in enumerate(outputs)]
        self.nin, self.nout = len(self.inputs), len(self.outputs)
        self.out = self.outputs[0]
        self.tag = source.tag if source is not None else self.out.tag

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.inputs))})"

    __repr__ = __str__


def _name_of_transposed(node: ViewApply) -> str | None:
    """``x.T`` for an output of a node that reverses the axes of a variable x."""
    name, settings = recipe_of(None if node.is_added else node.source.op)
    axes = list(reversed(range(node.inputs[0].ndim)))
    if name != "dimshuffle" or settings["order"] != axes or not node.inputs[0].name:
        return None
    return f"{node.inputs[0].name}.T"


class ViewGraph(FunctionGraph):
    """``f.maker.fgraph``: `outputs` include the new values of updates."""

    inputs: list[Any]
    outputs: list[Any]

    def __init__(self) -> None:
        super().__init__([], [], [])

    def add(self, node: ViewApply) -> None:
        """Adds a node at the end of the order."""
        self._nodes.append(node)  # type: ignore[arg-type]


# ---- Making views ----


class Builder:
    """Makes the view of a graph from its nodes, given in an order in which inputs come first."""

    merges = True  # whether equal nodes that only Theano has are one

    def __init__(self, device: str) -> None:
        self.device = device
        self.graph = ViewGraph()
        #: Variable -> its view where nodes read it, and, for one without a node, where it is stored.
        self.known: dict[Any, ViewVariable] = {}
        self.leaves: dict[Any, ViewVariable] = {}
        #: Integer or variable of an index -> the scalar of it.
        self.scalars: dict[Any, ViewVariable] = {}

    def transfer(
        self, name: str, variable: ViewVariable, device: str, source: Any = None
    ) -> ViewVariable:
        """Appends HostFromGpu, GpuFromHost or GpuToGpu."""
        kind = ViewType(variable.dtype, variable.broadcastable, device)
        op = GPU_KINDS[devices.dialect][name].described(
            _transfer_text(name, device), source and source.op
        )
        shown = source.outputs[0] if source is not None else variable.source
        node = ViewApply(op, [variable], [(shown, kind)], source)
        self.graph.add(node)
        return node.out

    def leaf(self, variable: Any, value_device: str | None = None) -> ViewVariable:
        """An input, a constant or a shared variable where it is stored: a value without a device on
        `value_device`, by default the graph's. Small equal constants are one, as in Theano."""
        key = small_constant_key(variable) or variable
        if key not in self.leaves:
            has_value = isinstance(variable, (Constant, SharedVariable))
            device = (value_device or self.device) if has_value else "cpu"
            self.leaves[key] = ViewVariable(variable, type_of(variable, device))
        return self.leaves[key]

    def value(self, variable: Any) -> ViewVariable:
        """The variable where nodes read it: an input is copied to the function's device first."""
        if variable not in self.known:
            view = self.leaf(variable)
            device = str(variable.type.device or self.device)
            if is_host(view.type.device) and not is_host(device):
                view = self.transfer("GpuFromHost", view, device)
            self.known[variable] = view
        return self.known[variable]

    def add(self, node: Any) -> None:
        """Adds the view of `node`, whose inputs have been added."""
        if recipe_of(node.op)[0] == "transfer":
            x = node.inputs[0]
            source = self.leaf(x) if x.owner is None else self.value(x)
            target = str(node.outputs[0].type.device)
            name = "HostFromGpu" if is_host(target) else "GpuFromHost"
            if not is_host(source.type.device) and name == "GpuFromHost":
                name = "GpuToGpu"
            self.known[node.outputs[0]] = self.transfer(name, source, target, node)
            return
        outputs = [(v, type_of(v, self.device)) for v in node.outputs]
        op = self.described(node, not is_host(outputs[0][1].device))
        view = ViewApply(op, self.inputs_of(node, op), outputs, node)
        self.graph.add(view)
        self.known.update(zip(node.outputs, view.outputs, strict=True))

    def described(self, node: Any, on_gpu: bool) -> Any:
        """The op of `node` as Theano shows it."""
        return describe(node, on_gpu, devices.dialect)

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        """The inputs of `node`, with the constants that are inputs in Theano only."""
        entries = integers_of(node)
        count = len(node.inputs) if entries is None else operand_count(node)
        inputs = [self.value(v) for v in node.inputs[:count]]
        # The integers of an index stay on the host.
        inputs += [self.leaf(v) if v.owner is None else self.value(v) for v in node.inputs[count:]]
        if entries is not None:
            of_index = iter(inputs[count:])
            order = new_axes_of(node)
            if order is not None and not isinstance(op, _dimshuffle_at(inputs[0])):
                inputs[0] = self.dimshuffled(inputs[0], order)
            listed = [each for entry in entries for each in entry if each]
            integers = [self.scalar(next(of_index) if i == "?" else int(i)) for i in listed]
            return [*inputs[:count], *integers]
        before, after = added_constants(node)
        return [*map(self.on_host, before), *inputs, *map(self.on_host, after)]

    def add_result(self, op: Any, inputs: list[ViewVariable], kind: ViewType) -> ViewVariable:
        """The result of a node that only Theano has."""
        node = ViewApply(op, inputs, [(inputs[0].source, kind)])
        self.graph.add(node)
        return node.out

    def dimshuffled(self, x: ViewVariable, order: Sequence[Any]) -> ViewVariable:
        """`x` with the axes `order`, "x" for a new one."""
        broadcastable = [axis == "x" or x.broadcastable[axis] for axis in order]
        kind = ViewType(x.dtype, broadcastable, x.type.device)
        prefix = "Inplace" if is_host(x.type.device) else "Gpu"
        text = f"{prefix}DimShuffle{{{','.join(map(str, order))}}}"
        return self.add_result(_dimshuffle_at(x).described(text), [x], kind)

    def on_host(self, value: Any) -> ViewVariable:
        """A constant on the host."""
        return self.leaf(constant(value), "cpu")

    def scalar(self, value: Any) -> ViewVariable:
        """An integer of an index: a constant, or a variable of rank 0 as a scalar."""
        if value in self.scalars and self.merges:
            return self.scalars[value]
        if isinstance(value, int):
            scalar = ViewVariable(constant(value), ScalarType("int64"))
        else:
            op = ScalarFromTensor.described("ScalarFromTensor")
            scalar = self.add_result(op, [value], ScalarType(value.dtype))
        self.scalars[value] = scalar
        return scalar


def _dimshuffle_at(x: ViewVariable) -> Any:
    """The class of DimShuffles of variables on the device of `x`."""
    return DimShuffle if is_host(x.type.device) else GPU_KINDS[devices.dialect]["DimShuffle"]


def _transfer_text(name: str, device: str) -> str:
    if devices.dialect == "gpu":
        return name
    context = "(gpuarray)" if name == "HostFromGpu" else f"<{devices.context_of(device)}>"
    return name + context


def of_function(compiled: Any, on_device: Sequence[bool]) -> ViewGraph:
    """The view of a compiled function; `on_device` says which outputs stay on the device."""
    builder = Builder(str(compiled.device))
    real = compiled.maker.fgraph
    builder.graph.inputs = [builder.leaf(v) for v in real.inputs]
    for node in real.toposort():
        builder.add(node)
    for i, output in enumerate(real.outputs):
        if i >= len(on_device) or on_device[i]:
            shown = builder.value(output)
        else:
            shown = builder.known.get(output) or builder.leaf(output)
            if not is_host(shown.type.device):
                shown = builder.transfer("HostFromGpu", shown, "cpu")
        builder.graph.outputs.append(shown)
    for node in builder.graph.toposort():
        for i, x in enumerate(node.inputs):
            x.clients.append((node, i))  # type: ignore[attr-defined]
    for i, x in enumerate(builder.graph.outputs):
        x.clients.append(("output", i))
    return builder.graph


#: Classes of products of compiled graphs, which are Dot in others.
_PRODUCTS = ("CGemv", "Dot22", "GpuGemv", "GpuDot22")


class _VariablesBuilder(Builder):
    """Makes the view of variables that are not compiled."""

    merges = False

    def described(self, node: Any, on_gpu: bool) -> Any:
        op = super().described(node, on_gpu)
        if type(op).__name__ in _PRODUCTS:
            return Dot.described("dot", op.native)
        if isinstance(op, IncSubtensor) and _increment_of(node) is not None:
            return IncSubtensor.described(str(op).replace("{Set;", "{Inc;"), op.native)
        return op

    def inputs_of(self, node: Any, op: Any) -> list[ViewVariable]:
        inputs = super().inputs_of(node, op)
        kind = type(op).__name__
        if kind.endswith("Elemwise"):
            rank = node.outputs[0].ndim
            return [self._of_rank(x, rank) for x in inputs]
        if kind == "Reshape" and len(node.inputs) > 1:
            extents = ViewType("int64", (False,), "cpu")
            op = MakeVector.described("MakeVector{dtype='int64'}")
            return [inputs[0], self.add_result(op, inputs[1:], extents)]
        if isinstance(op, IncSubtensor) and (increment := _increment_of(node)) is not None:
            inputs[1] = self.value(increment)
        return inputs

    def _of_rank(self, x: ViewVariable, rank: int) -> ViewVariable:
        """`x` with new axes in front."""
        if x.ndim >= rank:
            return x
        return self.dimshuffled(x, [*["x"] * (rank - x.ndim), *range(x.ndim)])


def _increment_of(node: Any) -> Any:
    """y if `node` sets ``x[i]`` to ``x[i] + y``, which is how inc_subtensor is made; else None."""
    name, settings = recipe_of(node.op)
    value = node.inputs[1].owner
    if value is None or recipe_of(value.op)[0] != "add" or name != "set_subtensor":
        return None
    read = value.inputs[0].owner
    if read is None or recipe_of(read.op) != ("subtensor", settings):
        return None
    indexed = [node.inputs[0], *node.inputs[2:]]  # without the new value
    is_same = all(a is b for a, b in zip(read.inputs, indexed, strict=True))
    return value.inputs[1] if is_same else None


def of_variables(variables: Sequence[Any]) -> ViewGraph:
    """The view of variables that are not compiled; what has no device is shown on the host."""
    builder = _VariablesBuilder("cpu")
    for node in ancestors(list(variables)):
        builder.add(node)
    builder.graph.outputs = [builder.known.get(v) or builder.leaf(v) for v in variables]
    return builder.graph


# ---- Profiles of functions: tables by class, op and node, and a summary of all ----


_ROWS = 20

_watched: list[Any] = []


class _Tables(Tables):
    indent, omitted_format = "", ".2f"


class Report:
    """The profile of functions, summed up if there are several."""

    def __init__(self, functions: Iterable[Any], message: str = "") -> None:
        self.functions = list(functions)
        self.profiles = [f.compiled.profile for f in self.functions]
        self.message = message or self.functions[0].name
        self.fct_callcount = sum(p.calls for p in self.profiles)
        self.fct_call_time = sum(p.call_seconds for p in self.profiles)
        self.compile_time = sum(p.compile_seconds for p in self.profiles)
        self.optimizer_time = sum(p.rewrite_seconds for p in self.profiles)
        #: (id in its function, node as Theano shows it, calls, seconds).
        self.steps = [step for f in self.functions for step in _steps_of(f)]
        self.thunk_time = sum(step[3] for step in self.steps)

    def rows(self, name: Callable[[Any], str]) -> list[Row]:
        """The nodes grouped by `name(op)`, by descending time."""
        steps = (
            (name(node.op), getattr(node.op, "native", None) is not None, calls, seconds)
            for _, node, calls, seconds in self.steps
        )
        return grouped((step[0], *step) for step in steps)

    def text(self) -> str:
        """The report as text."""
        part = f"({percent(self.thunk_time, self.fct_call_time):.3f}%)"
        lines = [
            "Function profiling",
            "==================",
            f"  Message: {self.message}",
            f"  Time in {self.fct_callcount} calls to Function.__call__: {self.fct_call_time:e}s",
            f"  Time in Function.fn.__call__: {self.fct_call_time:e}s (100.000%)",
            f"  Time in thunks: {self.thunk_time:e}s {part}",
            f"  Total compile time: {self.compile_time:e}s",
            f"    Number of Apply nodes: {len(self.steps)}",
            f"    Theano Optimizer time: {self.optimizer_time:e}s",
            f"       Theano validate time: {0:e}s",
            "    Theano Linker time (includes C, CUDA code generation/compiling): "
            f"{self.compile_time - self.optimizer_time:e}s",
        ]
        steps = [(seconds, calls, i, str(node)) for i, node, calls, seconds in self.steps]
        lines += _Tables(self.thunk_time).lines(self.rows(_class_name), self.rows(str), steps)
        return "\n".join(lines) + "\n"

    def summary(
        self, file: Any = None, n_ops_to_print: int = _ROWS, n_apply_to_print: int = _ROWS
    ) -> None:
        """Prints the report to `file`, by default stderr."""
        print(self.text(), file=file or sys.stderr)


def _steps_of(function: Any) -> list[tuple[int, Any, int, float]]:
    """The measured nodes; those of arguments and results are part of the call's time only."""
    measured = {
        node: (calls, seconds) for node, calls, seconds, _ in function.compiled.profile.nodes
    }
    order = function.maker.fgraph.toposort()
    return [
        (i, node, *measured[node.source]) for i, node in enumerate(order) if node.source in measured
    ]


def _class_name(op: Any) -> str:
    return f"{type(op).__module__}.{type(op).__qualname__}"


def watch(function: Any) -> None:
    """Prints the function's report when the interpreter exits, and a summary of all such."""
    if not _watched:
        atexit.register(_print_all)
    _watched.append(function)


def _print_all() -> None:
    called = [function for function in _watched if function.compiled.profile.calls]
    for function in called:
        Report([function]).summary()
    if len(called) > 1:
        message = f"Sum of all({len(called)}) printed profiles at exit excluding Scan op profile."
        Report(called, message).summary()
