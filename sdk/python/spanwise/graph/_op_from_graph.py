# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``OpFromGraph``: an op whose computation is a graph (theano/compile/builders.py)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import _core
from .._core import Apply, CompiledFunction, Constant, GraphError, SharedVariable, Variable
from ._function import function, without_test_values
from ._gradient import DisconnectedType, GradFunction, grad_undefined, is_differentiable
from ._op import Op, thunk_of
from ._rewrite import rewrite
from ._states import with_default_updates
from ._traversal import ancestors, clone, equal, listed_variables, open_variable, variables_of


class OpFromGraph(Op):
    """An op that computes `outputs` from `inputs`, variables of a graph that it copies.

    Applied to variables of the same dtypes and ranks it returns the output, or a list of several.
    The graph is compiled as a separate function when a function that uses the op is compiled.
    With `inline` its nodes are put into the graph of that function instead, where they take part in
    rewrites such as fusion. Shared variables of the graph are read at each call. Each use of the op
    makes their default updates, so two uses draw different random numbers.

    Derivatives are those of the graph, unless `grad_overrides` gives them: a function
    ``grad(inputs, output_gradients)`` that returns a list with a variable for each input, as the
    method of an Op; or a list with "default" or such a function, which returns one variable, for
    each input. Shared variables follow the inputs there and have "default" in the list.

    Two of these ops are equal if their graphs are. `name` is shown in printed graphs. Raises
    GraphError for an input that is a constant, a shared variable or listed twice, and for a graph
    that depends on a variable which is not listed.
    """

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Variable | Sequence[Variable],
        inline: bool = False,
        grad_overrides: GradFunction | Sequence[Any] | str = "default",
        name: str | None = None,
    ) -> None:
        outputs = listed_variables(outputs)
        _check_inputs(inputs)
        with without_test_values():
            copies, updates = with_default_updates(outputs, inputs)
        states = [x for x, _ in updates]
        roots = [*(copies.get(y, y) for y in outputs), *(new for _, new in updates), *states]
        #: The shared variables that the graph reads.
        self.shared_inputs = shared = _shared_inputs_of(roots, inputs)
        #: Of the copied graph: one for each of the arguments `inputs`, then of `shared_inputs`.
        self.inputs = [x.type(x.name) for x in (*inputs, *shared)]
        #: Of the copied graph: the arguments `outputs`, the next values of the states that it
        #: advances, and their values before that, which the derivatives read.
        with without_test_values():
            self.outputs = clone(roots, dict(zip((*inputs, *shared), self.inputs, strict=True)))
        self.output_count = count = len(outputs)
        position = {x: len(inputs) + j for j, x in enumerate(shared)}
        self.state_map = {count + i: position[x] for i, x in enumerate(states)}
        self.inline, self.name = bool(inline), name
        self.grad_overrides = _as_overrides(grad_overrides, len(inputs), len(shared))
        if inline:
            _register_inlining()

    def make_node(self, *inputs: Any) -> Apply:
        """A node of the op on variables of the types of its inputs. Raises GraphError for another
        number, dtype or rank. Inputs for the shared variables may be omitted."""
        count = len(self.inputs) - len(self.shared_inputs)
        if len(inputs) == count:
            inputs = (*inputs, *self.shared_inputs)
        if len(inputs) != len(self.inputs):
            raise GraphError(f"{self}: expected {count} inputs, got {len(inputs)}")
        variables = [_core._as_variable(x) for x in inputs]
        for i, (x, declared) in enumerate(zip(variables, self.inputs, strict=True)):
            if x.dtype != declared.dtype or x.ndim != declared.ndim:
                raise GraphError(
                    f"{self}: input {i} must be of {declared.dtype} and rank {declared.ndim}, got "
                    f"{x} of {x.type}; cast it"
                )
        outputs = clone(self.outputs, dict(zip(self.inputs, variables, strict=True)))
        return Apply(self, variables, [y.type() for y in outputs])

    def __call__(self, *inputs: Any, return_list: bool = False, **kwargs: Any) -> Any:
        outputs = super().__call__(*inputs, return_list=True, **kwargs)[: self.output_count]
        return outputs[0] if len(outputs) == 1 and not return_list else outputs

    def do_constant_folding(self, node: Apply) -> bool:
        """Whether all nodes of the graph may be evaluated at compile time."""
        return all(inner._is_pure for inner in ancestors(self.outputs, self.inputs))

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):  # type: ignore[no-untyped-def]
        """A call of the graph, which is compiled for the device of the node."""
        return thunk_of(self.compiled(str(self)), node, storage_map)

    def compiled(self, name: str) -> CompiledFunction:
        """The graph as a function of its inputs."""
        return function(
            self.inputs, self.outputs, name=name, on_unused_input="ignore", profile=False
        )

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """For each input, which outputs depend on it."""
        read_by_output = [variables_of([y]) for y in self.outputs]
        return [[x in read for read in read_by_output] for x in self.inputs]

    def L_op(  # noqa: N802  (Theano's name)
        self, inputs: list[Variable], outputs: list[Variable], output_gradients: list[Any]
    ) -> list[Any]:
        """The derivatives by `grad_overrides`, or of the graph: an OpFromGraph of the inputs and the
        derivatives with respect to the outputs."""
        overrides = self.grad_overrides
        inputs = self._inputs_of_call(inputs, outputs)
        if callable(overrides):
            return list(overrides(inputs, output_gradients[: self.output_count]))
        defaults = [i for i, override in enumerate(overrides) if not callable(override)]
        of_graph = iter(self._graph_gradients(defaults, inputs, output_gradients))
        return [
            override(inputs, output_gradients[: self.output_count])
            if callable(override)
            else next(of_graph)
            for override in overrides
        ]

    def _inputs_of_call(self, inputs: list[Variable], outputs: list[Variable]) -> list[Variable]:
        """`inputs` with the states as they are when the node runs: uses before it advance them."""
        seen = list(inputs)
        first = self.output_count + len(self.state_map)
        for k, i in enumerate(self.state_map.values()):
            seen[i] = outputs[first + k]
        return seen

    def _graph_gradients(
        self, positions: list[int], inputs: list[Variable], output_gradients: list[Any]
    ) -> list[Any]:
        """The derivatives of the graph with respect to the inputs at `positions`."""
        known, cotangents, values = [], [], []
        for y, g in zip(self.outputs, output_gradients, strict=True):
            if not isinstance(g.type, DisconnectedType):
                cotangents.append(open_variable(y))
                known.append((y, cotangents[-1]))
                values.append(g.astype(y.dtype))
        derivatives = [self._derivative(known, i) for i in positions]
        graphs = [d for d in derivatives if isinstance(d, Variable)]
        if not graphs:
            return derivatives
        name = None if self.name is None else f"{self.name}_gradient"
        op = OpFromGraph([*self.inputs, *cotangents], graphs, self.inline, name=name)
        results = iter(op(*inputs, *values, return_list=True))
        return [next(results) if isinstance(d, Variable) else d for d in derivatives]

    def _derivative(self, known: list[tuple[Variable, Variable]], i: int) -> Any:
        """The derivative with respect to input `i`: a variable of the graph, or a disconnected or
        undefined derivative."""
        x = self.inputs[i]
        if not is_differentiable(x):
            return DisconnectedType()()
        try:
            with without_test_values():
                derivative = _core._gradients(known, [x], [], "none")[0]
        except GraphError as error:
            return grad_undefined(self, i, x, str(error))
        return DisconnectedType()() if derivative is None else derivative

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, OpFromGraph)
            and (self.inline, self.name) == (other.inline, other.name)
            and self.grad_overrides == other.grad_overrides
            and [x.type for x in self.inputs] == [x.type for x in other.inputs]
            and equal(self.outputs, other.outputs, self.inputs, other.inputs)
        )

    def __hash__(self) -> int:
        ops = tuple(sorted(str(node.op) for node in ancestors(self.outputs)))
        return hash((self.inline, self.name, tuple(x.type for x in self.inputs), ops))

    def __str__(self) -> str:
        return f"OpFromGraph{{{self.name}}}" if self.name else "OpFromGraph"

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.inline:
            _register_inlining()


def inlined(op: OpFromGraph, inputs: Sequence[Variable]) -> list[Variable]:
    """The outputs of the graph of `op` on `inputs`, with new nodes, also for the ops with inline=True
    inside it."""
    new_of: dict[Variable, Variable] = dict(zip(op.inputs, inputs, strict=True))
    for node in ancestors(op.outputs, op.inputs):
        new_inputs = [new_of.get(x, x) for x in node.inputs]
        inner: Any = node.op
        if isinstance(inner, OpFromGraph) and inner.inline:
            outputs = inlined(inner, new_inputs)
        else:
            outputs = node.clone_with_new_inputs(new_inputs).outputs
        new_of.update(zip(node.outputs, outputs, strict=True))
    return [new_of.get(y, y) for y in op.outputs]


@functools.cache
def _register_inlining() -> None:
    """Registers the rewrite, once, for the first op with inline=True: compilations without such ops
    do not call Python for each node."""

    @rewrite("inline_from_graph", position=1, tags=("fast_run", "fast_compile"))
    def inline(node: Apply) -> list[Variable] | None:
        op: Any = node.op
        if not isinstance(op, OpFromGraph) or not op.inline:
            return None
        return inlined(op, node.inputs)


# ---- The arguments ----


def _check_inputs(inputs: Sequence[Variable]) -> None:
    """Raises TypeError or GraphError for inputs that OpFromGraph does not take."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"OpFromGraph: inputs must be a list of variables, got {inputs!r}")
    for i, x in enumerate(inputs):
        if not isinstance(x, Variable):
            raise TypeError(f"OpFromGraph: inputs[{i}]: expected a variable, got {x!r}")
        if isinstance(x, (Constant, SharedVariable)):
            raise GraphError(
                f"OpFromGraph: inputs[{i}]: expected a variable without a value, got {x}; leave "
                "constants and shared variables out of the inputs"
            )
        if x in list(inputs[:i]):
            raise GraphError(f"OpFromGraph: {x} is listed twice in the inputs")


def _shared_inputs_of(outputs: list[Variable], inputs: Sequence[Variable]) -> list[Variable]:
    """The shared variables that `outputs` depend on. Raises GraphError for a variable without a
    value that is not an input."""
    boundary = set(inputs)
    read = variables_of(outputs, inputs)
    leaves = [x for x in read if x.owner is None and x not in boundary]
    for x in leaves:
        if not isinstance(x, (Constant, SharedVariable)):
            raise GraphError(
                f"OpFromGraph: the outputs depend on {x} of {x.type}; list it in the inputs"
            )
    return [x for x in leaves if isinstance(x, SharedVariable)]


def _as_overrides(overrides: Any, input_count: int, shared_count: int) -> Any:
    """The argument grad_overrides as a function, or a list with one entry for each input and, at the
    end, for each shared variable."""
    if callable(overrides):
        return overrides
    listed = [overrides] * input_count if isinstance(overrides, str) else list(overrides)
    if len(listed) != input_count:
        raise GraphError(
            f"OpFromGraph: grad_overrides: expected one entry for each of {input_count} inputs, got "
            f"{len(listed)}"
        )
    for override in listed:
        if override != "default" and not callable(override):
            raise TypeError(
                f'OpFromGraph: grad_overrides: expected "default" or a function, got {override!r}'
            )
    return [*listed, *["default"] * shared_count]
