# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``scan``: loops over the first axis of variables (theano/scan)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Constant, GraphError, SharedVariable, Variable
from .from_graph import OpFromGraph
from .scan_op import Loop, Scan
from .traversal import ancestors, open_variable
from .unobserved import without_test_values


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

    Step t of `fn` is given element t of each sequence (along the first axis), the results of the
    step before for those outputs whose `outputs_info` is an initial value, and the
    `non_sequences` themselves. It returns the outputs of a step in the order of `outputs_info`, whose entries
    are None for outputs that no later step reads; without `outputs_info` no step reads an output.
    Returns a variable for each output, or a list of several: the outputs of all steps along a new
    first axis. ``result[-1]`` is that of the last step.

    There are `n_steps` steps, or as many as the shortest sequence has elements. With
    `go_backwards`, sequences are read from element ``n_steps - 1`` to 0. `fn` may use variables
    from outside; shared variables and constants among them are read at each call.

    Derivatives are those of the loop, with respect to sequences, initial values, `non_sequences`
    and variables from outside. Raises GraphError for outputs that do not match `outputs_info`, and
    the function ValueError where a sequence is too short or an output changes its shape.
    """
    listed = _listed(sequences)
    if any(isinstance(x, dict) for x in listed):
        raise GraphError(
            "scan: sequences: expected variables, got a dict of an input and taps; give slices of "
            "the input as sequences, such as x[:-1] and x[1:]"
        )
    given = [_core._as_variable(x) for x in listed]
    infos, fixed = _listed(outputs_info), [_core._as_variable(x) for x in _listed(non_sequences)]
    initial = [None if x is None else _core._as_variable(_initial_value(x)) for x in infos]
    steps = _number_of_steps(n_steps, given)
    elements = [open_variable(x, x.name, x.ndim - 1) for x in given]
    states = [open_variable(x, x.name) for x in initial if x is not None]
    with without_test_values():
        made = fn(*elements, *states, *fixed)
    outputs = _outputs_of(made)
    if infos and len(outputs) != len(infos):
        raise GraphError(f"scan: fn returns {len(outputs)} outputs, outputs_info has {len(infos)}")
    own = [*elements, *states]
    captured = _captured(outputs, own)
    is_state = [x is not None for x in initial] or [False] * len(outputs)
    new_states = [y for y, is_one in zip(outputs, is_state, strict=True) if is_one]
    _check_states(new_states, states)
    step = OpFromGraph(
        [*own, *captured],
        [*new_states, *(y for y, is_one in zip(outputs, is_state, strict=True) if not is_one)],
        name=name,
    )
    loop = Loop(len(elements), [True] * len(states), step)
    values = [x[:steps][::-1] for x in given] if go_backwards else given
    starts = [x for x in initial if x is not None]
    results = Scan(loop)(steps, *values, *starts, *captured, *step.shared_inputs, return_list=True)
    first, second = iter(results[: len(states)]), iter(results[len(states) :])
    ordered = [next(first) if is_one else next(second) for is_one in is_state]
    return ordered[0] if len(ordered) == 1 else ordered


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _initial_value(info: Any) -> Any:
    """Theano's dict(initial=x, taps=[-1]) is x."""
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
    shortest = lengths[0]
    for length in lengths[1:]:
        shortest = _core.minimum(shortest, length)
    return shortest.astype("int64")


def _outputs_of(made: Any) -> list[Variable]:
    listed = _listed(made)
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


def _captured(outputs: Sequence[Variable], own: Sequence[Variable]) -> list[Variable]:
    """The variables from outside that a step reads: those that depend on no variable of the step, at
    the border of those that do."""
    inside = set(own)
    found: dict[Variable, None] = {}
    for node in ancestors(list(outputs), list(own)):
        if not any(x in inside for x in node.inputs):
            continue
        inside.update(node.outputs)
        found.update(dict.fromkeys(x for x in node.inputs if x not in inside))
    found.update(dict.fromkeys(y for y in outputs if y not in inside))
    return [x for x in found if not isinstance(x, (Constant, SharedVariable))]
