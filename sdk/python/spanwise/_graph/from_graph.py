# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``OpFromGraph``: an op whose computation is a graph (theano/compile/builders.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Apply, CompiledFunction, GraphError, Variable
from .compiled import function
from .from_graph_arguments import as_overrides, check_inputs, shared_inputs_of
from .op import Op, thunk_of
from .op_gradient import DisconnectedType, GradFunction, grad_undefined, is_differentiable
from .rewrite import rewrite
from .traversal import ancestors, clone, equal, open_variable, variables_of
from .unobserved import without_test_values

_INLINE = "inline_from_graph"


class OpFromGraph(Op):
    """An op that computes `outputs` from `inputs`, variables of a graph that it copies.

    Applied to variables of the same dtypes and ranks it returns the output, or a list of several.
    The graph is compiled as a function of its own when a function that uses the op is compiled.
    With `inline` its nodes are put into the graph of that function instead, where they take part in
    rewrites such as fusion. Shared variables of the graph are read at each call.

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
        given = [outputs] if isinstance(outputs, Variable) else list(outputs)
        check_inputs(inputs)
        shared = shared_inputs_of(given, inputs)
        copies = [x.type(x.name) for x in (*inputs, *shared)]
        replaced = dict(zip((*inputs, *shared), copies, strict=True))
        #: The graph: `inputs` are those given and one for each of `shared_inputs`.
        self.inputs = copies
        with without_test_values():
            self.outputs = clone(given, replaced)
        self.shared_inputs = shared
        self.inline, self.name = bool(inline), name
        self.grad_overrides = as_overrides(grad_overrides, len(inputs), len(shared))
        if inline:
            _register_inlining()

    def make_node(self, *inputs: Any) -> Apply:
        """A node of the op on variables of the types of its inputs. Raises GraphError for another
        number, dtype or rank. Inputs for the shared variables may be omitted."""
        wanted = len(self.inputs) - len(self.shared_inputs)
        if len(inputs) == wanted:
            inputs = (*inputs, *self.shared_inputs)
        if len(inputs) != len(self.inputs):
            raise GraphError(f"{self}: expected {wanted} inputs, got {len(inputs)}")
        variables = [_core._as_variable(x) for x in inputs]
        for i, (x, own) in enumerate(zip(variables, self.inputs, strict=True)):
            if x.dtype != own.dtype or x.ndim != own.ndim:
                raise GraphError(
                    f"{self}: input {i} must be of {own.dtype} and rank {own.ndim}, got {x} of "
                    f"{x.type}; cast it"
                )
        made = clone(self.outputs, dict(zip(self.inputs, variables, strict=True)))
        return Apply(self, variables, [y.type() for y in made])

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
        read = [variables_of([y]) for y in self.outputs]
        return [[x in found for found in read] for x in self.inputs]

    def L_op(  # noqa: N802  (Theano's name)
        self, inputs: list[Variable], outputs: list[Variable], output_gradients: list[Any]
    ) -> list[Any]:
        """The derivatives by `grad_overrides`, or of the graph: an OpFromGraph of the inputs and the
        derivatives with respect to the outputs."""
        given = self.grad_overrides
        if callable(given):
            return list(given(inputs, output_gradients))
        made: list[Any] = [
            own(inputs, output_gradients) if callable(own) else None for own in given
        ]
        missing = [i for i, own in enumerate(given) if not callable(own)]
        found = self._graph_gradients(missing, inputs, output_gradients)
        for i, derivative in zip(missing, found, strict=True):
            made[i] = derivative
        return made

    def _graph_gradients(
        self, wanted: list[int], inputs: list[Variable], output_gradients: list[Any]
    ) -> list[Any]:
        known, rows, given = [], [], []
        for y, g in zip(self.outputs, output_gradients, strict=True):
            if not isinstance(g.type, DisconnectedType):
                rows.append(open_variable(y))
                known.append((y, rows[-1]))
                given.append(g.astype(y.dtype))
        derivatives = [self._derivative(known, i) for i in wanted]
        graphs = [d for d in derivatives if isinstance(d, Variable)]
        if not graphs:
            return derivatives
        name = None if self.name is None else f"{self.name}_gradient"
        op = OpFromGraph([*self.inputs, *rows], graphs, self.inline, name=name)
        values = iter(op(*inputs, *given, return_list=True))
        return [next(values) if isinstance(d, Variable) else d for d in derivatives]

    def _derivative(self, known: list[tuple[Variable, Variable]], i: int) -> Any:
        """The derivative with respect to input `i`: a variable of the graph, or a disconnected or
        undefined derivative."""
        x = self.inputs[i]
        if not is_differentiable(x):
            return DisconnectedType()()
        try:
            with without_test_values():
                found = _core._gradients(known, [x], [], "none")[0]
        except GraphError as error:
            return grad_undefined(self, i, x, str(error))
        return DisconnectedType()() if found is None else found

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
        ops = tuple(str(node.op) for node in ancestors(self.outputs))
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
    now: dict[Variable, Variable] = dict(zip(op.inputs, inputs, strict=True))
    for node in ancestors(op.outputs, op.inputs):
        given = [now.get(x, x) for x in node.inputs]
        inner: Any = node.op
        is_inline = isinstance(inner, OpFromGraph) and inner.inline
        made = inlined(inner, given) if is_inline else node.clone_with_new_inputs(given).outputs
        now.update(zip(node.outputs, made, strict=True))
    return [now.get(y, y) for y in op.outputs]


_registered: list[Callable[[Apply], Any]] = []


def _register_inlining() -> None:
    """At the first op with inline=True: programs without one do not call Python for each node."""
    if _registered:
        return

    @rewrite(_INLINE, position=1, tags=("fast_run", "fast_compile"))
    def inline(node: Apply) -> list[Variable] | None:
        op: Any = node.op
        if not isinstance(op, OpFromGraph) or not op.inline:
            return None
        return inlined(op, node.inputs)

    _registered.append(inline)
