# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``scan``: loops over the first axis of variables (theano/scan), the op that repeats the graph of a
step, and its derivatives, which are a loop too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from .. import _core
from .._core import Apply, Constant, GraphError, SharedVariable, TensorType, Variable, concatenate
from ._function import checked_update, without_test_values
from ._gradient import DisconnectedType, grad_undefined, is_differentiable
from ._op import Op, thunk_of
from ._op_from_graph import OpFromGraph
from ._states import body_of_loop
from ._tensor import set_subtensor, zeros_like
from ._traversal import ancestors, as_list, open_variable


def scan(
    fn: Callable[..., Any],
    sequences: Any = (),
    outputs_info: Any = (),
    non_sequences: Any = (),
    n_steps: Any = None,
    go_backwards: bool = False,
    name: str | None = None,
    return_updates: bool = False,
    truncate_gradient: int = -1,
    strict: bool = False,
) -> Any:
    """Calls `fn` once, on variables that stand for one step, and repeats its graph.

    The arguments of step t of `fn` are element t of each sequence (along the first axis), the results
    of the step before for those outputs whose `outputs_info` is an initial value, and the
    `non_sequences` themselves. It returns the outputs of a step in the order of `outputs_info`, whose
    entries are None for outputs that no later step reads; without `outputs_info` no step reads an
    output.
    Returns a variable for each output, or a list of several: the outputs of all steps along a new
    first axis. ``result[-1]`` is that of the last step.

    There are `n_steps` steps, or as many as the shortest sequence has elements. `fn` may return its
    outputs and ``until(condition)``: the step in which the condition is true is the last one. With
    `go_backwards`, sequences are read from element ``n_steps - 1`` to 0. `fn` may use variables
    from outside; shared variables and constants among them are read at each call. With `strict` it
    may only use constants and `non_sequences`.

    Random numbers that `fn` draws are other ones in each step, and default updates of shared variables
    that it reads are made in each step. With `return_updates`, `fn` may also return a dict of updates
    of shared variables, or outputs and such a dict, and scan returns its result and a dict of the
    values after the last step, for ``function(updates=)``.

    Derivatives are those of the loop, with respect to sequences, initial values, `non_sequences`
    and variables from outside. With a `truncate_gradient` of k > 0 they go through the last k steps
    only: the state before them counts as the initial one. Raises GraphError for outputs that do not match `outputs_info`, and
    the function ValueError where a sequence is too short or an output changes its shape.
    """
    listed = _list_or_empty(sequences)
    if any(isinstance(x, dict) for x in listed):
        raise GraphError(
            "scan: sequences: expected variables, got a dict of an input and taps; give slices of "
            "the input as sequences, such as x[:-1] and x[1:]"
        )
    variables = [_core._as_variable(x) for x in listed]
    constants = [_core._as_variable(x) for x in _list_or_empty(non_sequences)]
    infos = _list_or_empty(outputs_info)
    initial = [None if x is None else _core._as_variable(_initial_value(x)) for x in infos]
    steps = _number_of_steps(n_steps, variables)
    elements = [open_variable(x, x.name, x.ndim - 1) for x in variables]
    states = [open_variable(x, x.name) for x in initial if x is not None]
    first_serial = Apply._next_serial()
    with without_test_values():
        outputs, updates, condition = _outputs_of(
            fn(*elements, *states, *constants), return_updates
        )
        outputs, read, shared_states, next_values = body_of_loop(
            [*outputs, *condition], [*elements, *states], first_serial, updates
        )
        outputs, condition = outputs[: len(outputs) - len(condition)], outputs[-1:] * len(condition)
    if strict:
        _check_strict([*read, *shared_states], constants)
    outside = [x for x in read if not isinstance(x, (Constant, SharedVariable))]
    if infos and len(outputs) != len(infos):
        raise GraphError(f"scan: fn returns {len(outputs)} outputs, outputs_info has {len(infos)}")
    are_states = [x is not None for x in initial] or [False] * len(outputs)
    new_states = [y for y, is_state in zip(outputs, are_states, strict=True) if is_state]
    others = [y for y, is_state in zip(outputs, are_states, strict=True) if not is_state]
    _check_states(new_states, states)
    step = OpFromGraph(
        [*elements, *states, *shared_states.values(), *outside],
        [*new_states, *next_values, *others, *shared_states.values(), *condition],
        name=name,
    )
    count, shared_count = len(states), len(shared_states)
    loop = Loop(
        len(elements), [True] * count + [False] * shared_count, step, shared_count,
        bool(condition), truncate_gradient,
    )  # fmt: skip
    values = [x[:steps][::-1] for x in variables] if go_backwards else variables
    starts = [*(x for x in initial if x is not None), *shared_states]
    results = Scan(loop)(steps, *values, *starts, *outside, *step.shared_inputs, return_list=True)
    state_results, other_results = iter(results[:count]), iter(results[count + shared_count :])
    ordered = [next(state_results if is_state else other_results) for is_state in are_states]
    result = ordered[0] if len(ordered) == 1 else ordered
    last_values = dict(zip(shared_states, results[count:], strict=False))
    return (result, last_values) if return_updates else result


def _list_or_empty(argument: Any) -> list[Any]:
    return [] if argument is None else as_list(argument)


def _initial_value(info: Any) -> Any:
    """x of Theano's dict(initial=x, taps=[-1]); another entry of outputs_info as it is."""
    if not isinstance(info, dict):
        return info
    unknown = set(info) - {"initial", "taps"}
    if unknown or list(info.get("taps", [-1])) != [-1] or "initial" not in info:
        raise GraphError(
            "scan: outputs_info: expected an initial value or dict(initial=..., taps=[-1]); make a "
            "step that needs older results keep them in a state of its own"
        )
    return info["initial"]


def _number_of_steps(n_steps: Any, sequences: Sequence[Variable]) -> Variable:
    for i, x in enumerate(sequences):
        if x.ndim == 0:
            raise GraphError(f"scan: sequence {i} is a number; expected at least one axis")
    if n_steps is not None:
        steps = _core._as_variable(n_steps)
        if steps.ndim or steps.dtype.kind not in "iu":
            raise GraphError(f"scan: n_steps: expected an integer, got {steps} of {steps.type}")
        return steps.astype("int64")
    if not sequences:
        raise GraphError("scan: expected sequences or n_steps")
    lengths = [_core._as_variable(x.shape[0]) for x in sequences]
    return reduce(_core.minimum, lengths).astype("int64")


class until:  # noqa: N801  (Theano's name)
    """Returned by the `fn` of scan() beside the outputs: the loop ends with the step in which `condition`,
    of rank 0, is true."""

    def __init__(self, condition: Any) -> None:
        self.condition = _core._as_variable(condition)
        if self.condition.ndim:
            raise GraphError(f"until: expected a condition of rank 0, got {self.condition.type}")


def _outputs_of(
    returned: Any, may_update: bool
) -> tuple[list[Variable], dict[SharedVariable, Variable], list[Variable]]:
    """The result of fn as a list of variables, a dict of updates, and the condition, if there is one."""
    parts = _list_or_empty(returned)
    conditions = [part.condition for part in parts if isinstance(part, until)]
    dicts = [part for part in parts if isinstance(part, Mapping)]
    outputs = [part for part in parts if not isinstance(part, (until, Mapping))]
    if len(outputs) == 1 < len(parts):  # outputs, updates and until() in any order
        outputs = _list_or_empty(outputs[0])
    updates = dicts[0] if dicts else {}
    if not outputs and not updates:
        raise GraphError("scan: fn returns no output")
    is_nested = any(isinstance(y, (list, tuple)) for y in outputs)
    if is_nested or len(dicts) > may_update or len(conditions) > 1:
        raise GraphError(
            "scan: expected fn to return outputs, and beside them at most one until(condition) and, with "
            f"return_updates=True, one dict of updates, got {returned}"
        )
    checked = {x: checked_update("scan: update", x, new) for x, new in updates.items()}
    return [_core._as_variable(y) for y in outputs], checked, conditions


def _check_strict(read: Sequence[Any], non_sequences: Sequence[Variable]) -> None:
    # What fn computes from non-sequences alone is read as one value, but uses nothing else.
    allowed = set(non_sequences)
    inputs = (x for node in ancestors(read, allowed) for x in node.inputs)
    leaves = dict.fromkeys(x for x in (*read, *inputs) if x.owner is None)
    used = [x for x in leaves if not isinstance(x, Constant) and x not in allowed]
    if used:
        raise GraphError(
            f"scan: fn uses {', '.join(map(str, used))}, which strict=True forbids; add them to "
            "non_sequences"
        )


def _check_states(outputs: Sequence[Variable], states: Sequence[Variable]) -> None:
    for k, (y, state) in enumerate(zip(outputs, states, strict=True)):
        if y.dtype != state.dtype or y.ndim != state.ndim:
            raise GraphError(
                f"scan: the initial value of state {k} is of {state.dtype} and rank {state.ndim}, "
                f"and fn returns {y} of {y.dtype} and rank {y.ndim}; cast one of them"
            )


class Loop(NamedTuple):
    """The inputs of `step` are an element of each of `sequence_count` sequences, the states, and the
    non-sequences, which are the same in all steps; its outputs are the new states, then others. The
    last `shared_count` states are values of shared variables that the step advances, such as random
    streams; as many of the last outputs are their values before the step. With `has_condition` one
    more output is the condition after which the loop ends; in its place the loop returns how many
    steps it ran."""

    sequence_count: int
    #: Of each state: whether the states of all steps are results, or only the last one.
    keeps_all: list[bool]
    step: OpFromGraph
    shared_count: int = 0
    has_condition: bool = False
    #: Through how many of the last steps derivatives go; -1 for all.
    truncate_gradient: int = -1

    @property
    def state_count(self) -> int:
        return len(self.keeps_all)


_FIRST_ROOM = 64  # steps


class Scan(Op):
    """Inputs: the number of steps, the sequences, the initial states, and the non-sequences. Outputs:
    the states of all steps or the last one, then the other outputs of all steps."""

    eager = False

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        shared = range(loop.state_count - loop.shared_count, loop.state_count)
        self.state_map = {k: 1 + loop.sequence_count + k for k in shared}

    def do_constant_folding(self, node: Apply) -> bool:
        return self.loop.step.do_constant_folding(node)

    def make_node(self, steps: Any, *inputs: Any) -> Apply:
        variables = [_core._as_variable(x) for x in inputs]
        outputs = [
            TensorType(y.dtype, (None,) * (y.ndim + (not self._returns_last(k))), y.type.device)()
            for k, y in enumerate(self.loop.step.outputs)
        ]
        if self.loop.has_condition:
            outputs[-1] = TensorType("int64", ())()
        return Apply(self, [steps, *variables], outputs)

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):  # type: ignore[no-untyped-def]
        compiled = self.loop.step.compiled(str(self))

        def run(steps: Any, *inputs: Any) -> list[Any]:
            return self._run(compiled, int(steps.item()), inputs, node)

        return thunk_of(run, node, storage_map)

    def _run(self, compiled: Any, steps: int, inputs: Sequence[Any], node: Apply) -> list[Any]:
        count, state_count = self.loop.sequence_count, self.loop.state_count
        sequences, non_sequences = inputs[:count], inputs[count + state_count :]
        if steps < 0:
            raise ValueError(
                f"{self}: n_steps is {steps}; expected at least 0, and go_backwards=True for the other order"
            )
        states = [x.copy() for x in inputs[count : count + state_count]]
        for i, x in enumerate(sequences):
            if x.shape[0] < steps:
                raise ValueError(
                    f"{self}: sequence {i} has {x.shape[0]} elements, expected {steps} steps"
                )
        result_count = len(node.outputs) - self.loop.has_condition
        results: list[Any] = [None] * result_count
        ran, is_last = 0, False
        while ran < steps and not is_last:
            outputs = compiled(*(x[ran, ...] for x in sequences), *states, *non_sequences)
            states = outputs[:state_count]
            for k, value in enumerate(outputs[:result_count]):
                if not self._returns_last(k):
                    results[k] = self._store_value(results[k], value, ran, steps)
            ran += 1
            is_last = self.loop.has_condition and bool(outputs[-1].item())
        for k, y in enumerate(node.outputs[:result_count]):
            if self._returns_last(k):
                results[k] = states[k]
            elif results[k] is None:  # no steps; only the extents of states are known
                shape = inputs[count + k].shape if k < state_count else (0,) * (y.ndim - 1)
                results[k] = _core.empty((0, *shape), dtype=y.dtype)
            elif is_last:
                results[k] = results[k][:ran]
        return [*results, _core.asarray(ran, "int64")] if self.loop.has_condition else results

    def _returns_last(self, k: int) -> bool:
        """Whether output `k` is a state of which only the last value is a result."""
        return k < self.loop.state_count and not self.loop.keeps_all[k]

    def _store_value(self, stack: Any, value: Any, t: int, steps: int) -> Any:
        """`stack`, allocated by the first step if it is None, with `value` at index `t`. A loop with a
        condition may end long before `steps`, so its stacks grow."""
        if stack is None:
            room = min(steps, _FIRST_ROOM) if self.loop.has_condition else steps
            stack = _core.empty((room, *value.shape), dtype=value.dtype, device=value.device)
        elif t == stack.shape[0] and stack.shape[1:] == value.shape:
            room = min(steps, 2 * t)
            larger = _core.empty((room, *value.shape), dtype=value.dtype, device=value.device)
            larger[:t] = stack
            stack = larger
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
        return hash((self.loop.sequence_count, tuple(self.loop.keeps_all), self.loop.step))

    def __str__(self) -> str:
        name = self.loop.step.name
        return f"Scan{{{name}}}" if name else "Scan"


class _Backward:
    """The loop of derivatives. Its states are the derivatives with respect to the states and, summed so
    far, with respect to the non-sequences; its sequences are those of the loop, the states before each
    step and the derivatives with respect to the outputs, all from the last step to the first."""

    def __init__(self, loop: Loop, inputs: list[Variable], gradients: list[Any]) -> None:
        self.loop, self.inputs = loop, inputs
        self.sequences, self.initial, self.non_sequences = self._by_kind(inputs[1:])
        #: The inputs of a step.
        self.elements, self.states, self.constants = self._by_kind(loop.step.inputs)
        #: Index of an output of the loop -> the derivative with respect to it.
        self.output_gradients = {
            k: g
            for k, g in enumerate(gradients[: len(gradients) - loop.has_condition])
            if not isinstance(g.type, DisconnectedType)
        }

    def _by_kind(self, values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Values for the inputs of a step as those for sequences, states and non-sequences."""
        first, end = self.loop.sequence_count, self.loop.sequence_count + self.loop.state_count
        return values[:first], values[first:end], values[end:]

    def differentiate_step(self) -> None:
        """Makes the derivatives of one step with respect to its inputs, in the graph of the step."""
        outputs = self.loop.step.outputs
        #: By index: variables for the derivatives with respect to an output of one step, and with
        #: respect to a state after the step, by way of later steps.
        self.from_outputs = {
            k: open_variable(outputs[k])
            for k in self.output_gradients
            if k >= self.loop.state_count or self.loop.keeps_all[k]
        }
        self.from_later_steps = {
            k: open_variable(x) for k, x in enumerate(self.states) if is_differentiable(x)
        }
        known = []
        for k, y in enumerate(outputs):
            terms = [of[k] for of in (self.from_later_steps, self.from_outputs) if k in of]
            if terms and is_differentiable(y):
                known.append((y, terms[0] + terms[1] if len(terms) == 2 else terms[0]))
        derivatives = [
            _core._gradients(known, [x], [], "none")[0] if is_differentiable(x) else None
            for x in self.loop.step.inputs
        ]
        self.of_elements, self.of_states, self.of_constants = self._by_kind(derivatives)

    def derivatives(self, outputs: list[Variable]) -> list[Any]:
        """The derivatives with respect to the inputs of the loop, whose outputs are `outputs`."""
        #: How many steps the loop ran, and the first one that derivatives go through.
        self.steps = outputs[-1] if self.loop.has_condition else self.inputs[0]
        limit = self.loop.truncate_gradient
        self.first = None if limit < 0 else _core.maximum(self.steps - limit, 0)
        sums = {
            j: open_variable(x)
            for j, x in enumerate(self.constants)
            if self.of_constants[j] is not None
        }
        before_step = [
            zeros_like(self.states[k]) if self.of_states[k] is None else self.of_states[k]
            for k in self.from_later_steps
        ]
        connected = [i for i, d in enumerate(self.of_elements) if d is not None]
        step = OpFromGraph(
            [*self.elements, *self.states, *self.from_outputs.values(),
             *self.from_later_steps.values(), *sums.values(), *self.constants],
            [*before_step, *(sums[j] + self.of_constants[j] for j in sums),
             *(self.of_elements[i] for i in connected)],
            name=None if self.loop.step.name is None else f"{self.loop.step.name}_gradient",
        )  # fmt: skip
        gradients = [self.output_gradients[k].astype(x.dtype) for k, x in self.from_outputs.items()]
        sequences = [*self.sequences, *self._states_before(outputs), *gradients]
        state_count = len(self.from_later_steps) + len(sums)
        results = Scan(Loop(len(sequences), [False] * state_count, step))(
            self.steps if self.first is None else self.steps - self.first,
            *(x[self.first : self.steps][::-1] for x in sequences),
            *(self._gradient_of_last_state(k) for k in self.from_later_steps),
            *(zeros_like(self.non_sequences[j]) for j in sums),
            *self.non_sequences,
            return_list=True,
        )
        by_state = dict(zip(self.from_later_steps, results, strict=False))
        by_constant = dict(zip(sums, results[len(by_state) : state_count], strict=True))
        by_sequence = dict(zip(connected, results[state_count:], strict=True))
        disconnected = DisconnectedType()()
        return [
            disconnected,
            *(self._of_sequence(i, by_sequence.get(i)) for i in range(len(self.sequences))),
            *(by_state.get(k, disconnected) for k in range(len(self.states))),
            *(by_constant.get(j, disconnected) for j in range(len(self.non_sequences))),
        ]

    def _states_before(self, outputs: list[Variable]) -> list[Variable]:
        """For each state its values before each step; of a loop that returns last states only, by
        running it again."""
        count = self.loop.state_count - self.loop.shared_count
        after: Sequence[Variable] = outputs
        if not all(self.loop.keeps_all[:count]):
            every = [True] * count + self.loop.keeps_all[count:]
            after = Scan(self.loop._replace(keeps_all=every))(*self.inputs, return_list=True)
        before = [
            concatenate([x.dimshuffle("x", *range(x.ndim)), after[k]], axis=0)
            for k, x in enumerate(self.initial[:count])
        ]
        end = len(outputs) - self.loop.has_condition
        return before + outputs[end - self.loop.shared_count : end]

    def _gradient_of_last_state(self, k: int) -> Variable:
        """The derivative with respect to the last state: not 0 where only that is a result."""
        if k in self.output_gradients and not self.loop.keeps_all[k]:
            return self.output_gradients[k].astype(self.initial[k].dtype)
        return zeros_like(self.initial[k])

    def _of_sequence(self, i: int, derivative: Variable | None) -> Any:
        """The derivative with respect to a sequence, which may be longer than the loop, from those with
        respect to its elements in reverse order."""
        if derivative is None:
            return DisconnectedType()()
        part = zeros_like(self.sequences[i])[self.first : self.steps]
        return set_subtensor(part, derivative[::-1])
