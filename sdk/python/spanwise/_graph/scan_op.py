# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The op that repeats the graph of a step, and its derivatives, which are a loop too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _core
from .._core import Apply, GraphError, Variable, concatenate
from .from_graph import OpFromGraph
from .functions import zeros_like
from .op import Op, thunk_of
from .op_gradient import DisconnectedType, grad_undefined, is_differentiable
from .subtensor import set_subtensor
from .traversal import open_variable
from .unobserved import without_test_values


class Loop(NamedTuple):
    """The inputs of `step` are elements of `sequences` sequences, the states, and what is the same in
    all steps; its outputs are the new states and others."""

    sequences: int
    keeps_all: list[
        bool
    ]  #: of each state: whether the states of all steps are results, or the last
    step: OpFromGraph

    @property
    def states(self) -> int:
        return len(self.keeps_all)


class Scan(Op):
    """Inputs: the number of steps, the sequences, the initial states, and what is the same in all
    steps. Outputs: the states of all steps or the last one, then the other outputs of all steps."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def make_node(self, steps: Any, *inputs: Any) -> Apply:
        variables = [_core._as_variable(x) for x in inputs]
        outputs = [
            open_variable(y, rank=y.ndim + (not self._is_last(k)))
            for k, y in enumerate(self.loop.step.outputs)
        ]
        return Apply(self, [steps, *variables], outputs)

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):  # type: ignore[no-untyped-def]
        compiled = self.loop.step.compiled(str(self))

        def run(steps: Any, *given: Any) -> list[Any]:
            return self._run(compiled, int(steps.item()), given, node)

        return thunk_of(run, node, storage_map)

    def _run(self, compiled: Any, steps: int, given: Sequence[Any], node: Apply) -> list[Any]:
        count, states = self.loop.sequences, self.loop.states
        sequences, fixed = given[:count], given[count + states :]
        now = [x.copy() for x in given[count : count + states]]
        for i, x in enumerate(sequences):
            if x.shape[0] < steps:
                raise ValueError(
                    f"{self}: sequence {i} has {x.shape[0]} elements, expected {steps} steps"
                )
        results: list[Any] = [None] * len(node.outputs)
        for t in range(steps):
            made = compiled(*(x[t, ...] for x in sequences), *now, *fixed)
            now = made[:states]
            for k, value in enumerate(made):
                if not self._is_last(k):
                    results[k] = self._stored(results[k], value, t, steps)
        for k, y in enumerate(node.outputs):
            if self._is_last(k):
                results[k] = now[k]
            elif results[k] is None:  # no steps; only the extents of states are known
                shape = given[count + k].shape if k < states else (0,) * (y.ndim - 1)
                results[k] = _core.empty((0, *shape), dtype=y.dtype)
        return results

    def _is_last(self, k: int) -> bool:
        return k < self.loop.states and not self.loop.keeps_all[k]

    def _stored(self, stack: Any, value: Any, t: int, steps: int) -> Any:
        if stack is None:
            stack = _core.empty((steps, *value.shape), dtype=value.dtype, device=value.device)
        if stack.shape[1:] != value.shape:
            raise ValueError(
                f"{self}: an output of step {t} has shape {value.shape}, and {stack.shape[1:]} "
                "before; expected one shape in all steps"
            )
        stack[t, ...] = value
        return stack

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Only the number of steps is disconnected."""
        return [[i > 0] * len(node.outputs) for i in range(len(node.inputs))]

    def L_op(  # noqa: N802  (Theano's name)
        self, inputs: list[Variable], outputs: list[Variable], output_gradients: list[Any]
    ) -> list[Any]:
        """A loop from the last step to the first."""
        backward = _Backward(self.loop, inputs, output_gradients)
        try:
            with without_test_values():
                backward.differentiate_step()
        except GraphError as error:
            return [grad_undefined(self, i, x, str(error)) for i, x in enumerate(inputs)]
        return backward.derivatives(outputs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scan) and self.loop == other.loop

    def __hash__(self) -> int:
        return hash((self.loop.sequences, tuple(self.loop.keeps_all), self.loop.step))

    def __str__(self) -> str:
        name = self.loop.step.name
        return f"Scan{{{name}}}" if name else "Scan"


class _Backward:
    """Its states are the derivatives with respect to the states and, summed so far, with respect to what
    is the same in all steps; its sequences are those of the loop, the states before each step and the
    derivatives with respect to the outputs, all from the last step to the first."""

    def __init__(self, loop: Loop, inputs: list[Variable], gradients: list[Any]) -> None:
        self.loop, self.inputs = loop, inputs
        count, states = loop.sequences, loop.states
        self.steps, given = inputs[0], inputs[1:]
        self.sequences = given[:count]
        self.initial = given[count : count + states]
        self.fixed = given[count + states :]
        own = loop.step.inputs
        self.elements, self.states = own[:count], own[count : count + states]
        self.own_fixed = own[count + states :]
        #: {output of a step: derivative with respect to it}, for outputs of all steps.
        self.given = {
            k: g for k, g in enumerate(gradients) if not isinstance(g.type, DisconnectedType)
        }
        self.carried = [k for k, x in enumerate(self.states) if is_differentiable(x)]

    def differentiate_step(self) -> None:
        outputs = self.loop.step.outputs
        self.rows = {
            k: open_variable(outputs[k])
            for k in self.given
            if k >= self.loop.states or self.loop.keeps_all[k]
        }
        self.carries = {k: open_variable(self.states[k]) for k in self.carried}
        known = []
        for k, y in enumerate(outputs):
            terms = [group[k] for group in (self.carries, self.rows) if k in group]
            if terms and is_differentiable(y):
                known.append((y, terms[0] + terms[1] if len(terms) == 2 else terms[0]))
        wanted = [*self.elements, *self.states, *self.own_fixed]
        found = [
            _core._gradients(known, [x], [], "none")[0] if is_differentiable(x) else None
            for x in wanted
        ]
        count, states = self.loop.sequences, self.loop.states
        self.of_elements = found[:count]
        self.of_states = found[count : count + states]
        self.of_fixed = found[count + states :]

    def derivatives(self, outputs: list[Variable]) -> list[Any]:
        summed = {
            j: open_variable(x)
            for j, x in enumerate(self.own_fixed)
            if self.of_fixed[j] is not None
        }
        new_carries = [
            zeros_like(self.states[k]) if self.of_states[k] is None else self.of_states[k]
            for k in self.carried
        ]
        read = [i for i, d in enumerate(self.of_elements) if d is not None]
        step = OpFromGraph(
            [*self.elements, *self.states, *self.rows.values(), *self.carries.values(),
             *summed.values(), *self.own_fixed],
            [*new_carries, *(summed[j] + self.of_fixed[j] for j in summed),
             *(self.of_elements[i] for i in read)],
            name=None if self.loop.step.name is None else f"{self.loop.step.name}_gradient",
        )  # fmt: skip
        rows = [self.given[k].astype(self.rows[k].dtype) for k in self.rows]
        sequences = [*self.sequences, *self._states_before(outputs), *rows]
        last = len(self.carries) + len(summed)
        found = Scan(Loop(len(sequences), [False] * last, step))(
            self.steps,
            *(x[: self.steps][::-1] for x in sequences),
            *(self._carry_before(k) for k in self.carried),
            *(zeros_like(self.fixed[j]) for j in summed),
            *self.fixed,
            return_list=True,
        )
        by_state = dict(zip(self.carried, found, strict=False))
        by_fixed = dict(zip(summed, found[len(self.carried) : last], strict=True))
        by_sequence = dict(zip(read, found[last:], strict=True))
        none = DisconnectedType()()
        return [
            none,
            *(self._in_place(i, by_sequence.get(i)) for i in range(len(self.sequences))),
            *(by_state.get(k, none) for k in range(len(self.states))),
            *(by_fixed.get(j, none) for j in range(len(self.fixed))),
        ]

    def _states_before(self, outputs: list[Variable]) -> list[Variable]:
        kept: Sequence[Variable] = outputs
        if not all(self.loop.keeps_all):
            every = self.loop._replace(keeps_all=[True] * self.loop.states)
            kept = Scan(every)(*self.inputs, return_list=True)
        return [
            concatenate([x.dimshuffle("x", *range(x.ndim)), kept[k]], axis=0)
            for k, x in enumerate(self.initial)
        ]

    def _carry_before(self, k: int) -> Variable:
        """The derivative with respect to the last state, where that is a result of its own."""
        if k in self.given and not self.loop.keeps_all[k]:
            return self.given[k].astype(self.initial[k].dtype)
        return zeros_like(self.initial[k])

    def _in_place(self, i: int, derivative: Variable | None) -> Any:
        """The derivatives of the elements of a sequence, which may be longer than the loop."""
        if derivative is None:
            return DisconnectedType()()
        return set_subtensor(zeros_like(self.sequences[i])[: self.steps], derivative[::-1])
