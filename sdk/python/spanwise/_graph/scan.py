# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``scan``: loops over the first axis of variables (theano/scan)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from .. import _core
from .._core import Constant, GraphError, SharedVariable, Variable
from .from_graph import OpFromGraph
from .scan_op import Loop, Scan
from .test_value_scope import without_test_values
from .traversal import ancestors, as_list, open_variable


def scan(
    fn: Callable[..., Any],
    sequences: Any = (),
    outputs_info: Any = (),
    non_sequences: Any = (),
    n_steps: Any = None,
    go_backwards: bool = False,
    name: str | None = None,
) -> Any:
    """Calls `fn` once, on variables that stand for one step, and repeats its graph.

    The arguments of step t of `fn` are element t of each sequence (along the first axis), the results
    of the step before for those outputs whose `outputs_info` is an initial value, and the
    `non_sequences` themselves. It returns the outputs of a step in the order of `outputs_info`, whose
    entries are None for outputs that no later step reads; without `outputs_info` no step reads an
    output.
    Returns a variable for each output, or a list of several: the outputs of all steps along a new
    first axis. ``result[-1]`` is that of the last step.

    There are `n_steps` steps, or as many as the shortest sequence has elements. With
    `go_backwards`, sequences are read from element ``n_steps - 1`` to 0. `fn` may use variables
    from outside; shared variables and constants among them are read at each call.

    Derivatives are those of the loop, with respect to sequences, initial values, `non_sequences`
    and variables from outside. Raises GraphError for outputs that do not match `outputs_info`, and
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
    with without_test_values():
        outputs = _outputs_of(fn(*elements, *states, *constants))
    if infos and len(outputs) != len(infos):
        raise GraphError(f"scan: fn returns {len(outputs)} outputs, outputs_info has {len(infos)}")
    captured = _captured(outputs, [*elements, *states])
    are_states = [x is not None for x in initial] or [False] * len(outputs)
    new_states = [y for y, is_state in zip(outputs, are_states, strict=True) if is_state]
    others = [y for y, is_state in zip(outputs, are_states, strict=True) if not is_state]
    _check_states(new_states, states)
    step = OpFromGraph([*elements, *states, *captured], [*new_states, *others], name=name)
    loop = Loop(len(elements), [True] * len(states), step)
    values = [x[:steps][::-1] for x in variables] if go_backwards else variables
    starts = [x for x in initial if x is not None]
    results = Scan(loop)(steps, *values, *starts, *captured, *step.shared_inputs, return_list=True)
    state_results, other_results = iter(results[: len(states)]), iter(results[len(states) :])
    ordered = [next(state_results if is_state else other_results) for is_state in are_states]
    return ordered[0] if len(ordered) == 1 else ordered


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


def _outputs_of(returned: Any) -> list[Variable]:
    """The result of fn as a list of variables."""
    listed = _list_or_empty(returned)
    if not listed:
        raise GraphError("scan: fn returns no output")
    if any(isinstance(y, (dict, list, tuple)) for y in listed):
        raise GraphError(
            "scan: fn returns updates or a condition; expected outputs only. Return what changes as "
            "an output with outputs_info"
        )
    return [_core._as_variable(y) for y in listed]


def _check_states(outputs: Sequence[Variable], states: Sequence[Variable]) -> None:
    for k, (y, state) in enumerate(zip(outputs, states, strict=True)):
        if y.dtype != state.dtype or y.ndim != state.ndim:
            raise GraphError(
                f"scan: the initial value of state {k} is of {state.dtype} and rank {state.ndim}, "
                f"and fn returns {y} of {y.dtype} and rank {y.ndim}; cast one of them"
            )


def _captured(outputs: Sequence[Variable], arguments: Sequence[Variable]) -> list[Variable]:
    """The variables from outside that a step reads: those that depend on no argument of fn, and that a
    node reads which depends on one, or that are outputs."""
    inside = set(arguments)
    captured: dict[Variable, None] = {}
    for node in ancestors(outputs, arguments):
        if not any(x in inside for x in node.inputs):
            continue
        inside.update(node.outputs)
        captured.update(dict.fromkeys(x for x in node.inputs if x not in inside))
    captured.update(dict.fromkeys(y for y in outputs if y not in inside))
    return [x for x in captured if not isinstance(x, (Constant, SharedVariable))]
