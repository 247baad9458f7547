# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the module ``theano``."""

from __future__ import annotations

import functools
import itertools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import spanwise.tensor as T  # noqa: N812
from spanwise import GraphError
from spanwise.gradient import Lop as Lop, Rop as Rop, grad as _grad
from spanwise.graph import (
    Apply,
    Constant,
    OpFromGraph,
    SharedVariable,
    TensorType as Type,
    Variable,
    as_op as _as_op,
    clone as _clone,
    scan as _scan,
    until,
)
from spanwise.tensor import dot

from ._config import config
from ._device_array import as_theano, unwrap
from ._errors import with_classes
from ._function import In, Mode, Out, function, shared
from ._ops import Op


@with_classes
@functools.wraps(_grad)
def grad(cost: Any, *args: Any, **named: Any) -> Any:
    if cost is not None and str(cost.dtype).rstrip("0123456789") in ("int", "uint", "bool"):
        cost = cost.astype(config.floatX)  # Theano gives integers slopes, which are 0
    return _grad(cost, *args, **named)


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The derivatives of a vector's elements: for a variable of `wrt` with shape (m, ...) an array of
    shape (n, m, ...), n being the vector's length. A variable, or a list or tuple as `wrt` is.

    The function computes one gradient for each element in a loop. Raises GraphError for rank > 1; of
    rank 0 it is the gradient. The other arguments are those of grad().
    """
    if expression.ndim > 1:
        raise GraphError(
            f"jacobian: expected a vector, got {expression.type}; use expression.flatten()"
        )
    variables = _listed(wrt)

    def row(element: Any) -> list[Any]:
        return grad(element, variables, consider_constant, disconnected_inputs)

    if expression.ndim == 0:
        derivatives = row(expression)
    else:
        derivatives = _listed(_scan(lambda i: row(expression[i]), T.arange(expression.shape[0])))
    return type(wrt)(derivatives) if isinstance(wrt, (list, tuple)) else derivatives[0]


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The second derivatives of a scalar with respect to a vector of length n, an array of shape
    (n, n). A variable, or a list or tuple as `wrt` is.

    Raises GraphError for a variable of `wrt` that is no vector. The other arguments are those of
    grad().
    """
    variables = _listed(wrt)
    for x in variables:
        if x.ndim != 1:
            raise GraphError(f"hessian: expected derivatives with respect to vectors, got {x.type}")
    slopes = grad(cost, variables, consider_constant, disconnected_inputs)
    # A slope that is constant does not depend on x.
    hessians = [
        jacobian(slope, x, consider_constant, "ignore")
        for slope, x in zip(slopes, variables, strict=True)
    ]
    return type(wrt)(hessians) if isinstance(wrt, (list, tuple)) else hessians[0]


def _listed(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


__all__ = [
    "Apply", "Constant", "In", "Lop", "Mode", "Op", "OpFromGraph", "Out", "Param", "Rop", "SharedVariable", "Type",
    "Variable", "as_op", "clone", "config", "dot", "foldl", "foldr",
    "function", "grad", "map", "reduce", "scan", "shared",
]  # fmt: skip


def inputs_of(variable_list: Any, blockers: Any = None) -> list[Variable]:
    """The variables without a node, or of `blockers`, that variables are computed from, in the order of
    Theano: from the last variable to the first, each to the inputs of its node before other variables."""
    blocked, pending = set(blockers or ()), list(variable_list)
    seen: dict[Variable, None] = {}
    while pending:
        x = pending.pop()
        if x not in seen:
            seen[x] = None
            if x.owner is not None and x not in blocked:
                pending += reversed(x.owner.inputs)
    return [x for x in seen if x.owner is None or x in blocked]


def clone(output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True) -> Any:
    """A copy of the graph of `output`, a variable or a list, dict or tuple of them. `replace` maps
    variables to others of the same dtype and rank, or with strict=False to others that are cast; with
    share_inputs=False the inputs are copied too."""
    pairs = list(replace.items()) if isinstance(replace, Mapping) else list(replace or ())
    if not strict:
        pairs = [(old, T.as_variable(new).astype(old.dtype)) for old, new in pairs]
    if not share_inputs:
        known = {old for old, _ in pairs}
        roots = inputs_of(output.values() if isinstance(output, Mapping) else _listed(output))
        pairs += [(x, x.clone()) for x in roots if type(x) is Variable and x not in known]
    return _clone(output, dict(pairs))


def Param(variable: Any, default: Any = None, name: str | None = None, **options: Any) -> In:  # noqa: N802
    """An input with a default value."""
    return In(variable, name, default, **options)


def as_op(itypes: Any, otypes: Any, infer_shape: Any = None) -> Callable[..., Any]:
    """A decorator that makes an op from a function of NumPy arrays, or of device arrays for inputs
    on the GPU. The types are such as ``T.dvector``, one or a list. Calls of the op raise GraphError
    for inputs of other types."""
    outputs = len(otypes) if isinstance(otypes, (list, tuple)) else 1

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def adapted(*values: Any) -> Any:
            results = function(*[as_theano(value) for value in values])
            if not isinstance(results, (list, tuple)):
                return unwrap(results)
            arrays = [unwrap(result) for result in results]
            return arrays[0] if outputs == len(arrays) == 1 else arrays

        return _as_op(itypes, otypes, infer_shape=infer_shape)(adapted)

    return decorate


def _asarray(a: Any, dtype: Any, order: Any = None) -> np.ndarray:
    """numpy.asarray(); `dtype` may be "floatX"."""
    return np.asarray(a, config.floatX if dtype == "floatX" else dtype, order)


def _slices(sequence: Any) -> list[Any]:
    """A sequence for each tap k of dict(input=x, taps=[...]), which has x[t + k] in step t: step 0 is
    the first for which all taps are elements."""
    if not isinstance(sequence, dict):
        return [sequence]
    x, taps = T.as_variable(sequence["input"]), sequence.get("taps")
    taps = [0] if taps is None else _listed(taps)
    first, last = min(*taps, 0), max(*taps, 0)
    return [x[k - first :] if k == last else x[k - first : k - last] for k in taps]


# An output that later steps read at several distances is a state for each distance up to the
# largest: the newest result, then older ones, each of which is the one before in the next step.


def _output_taps(info: Any) -> list[int] | None:
    """The taps of an entry of outputs_info; None for an output that no step reads. Raises ValueError for
    one that is not negative."""
    if info is None or (isinstance(info, dict) and info.get("initial") is None):
        return None
    taps = info.get("taps", [-1]) if isinstance(info, dict) else [-1]
    taps = [-1] if taps is None else list(_listed(taps))
    if not taps or max(taps) >= 0:
        raise ValueError(f"scan: expected negative taps of an output, got {taps}")
    return taps


def _depth(taps: list[int] | None) -> int:
    return 1 if taps is None else -min(taps)


def _older_results(infos: Sequence[Any], taps: Sequence[list[int] | None]) -> list[Any]:
    """The initial value of each state; `initial` has those of the steps before the first, the oldest
    first, but is a single one for the tap -1 alone."""
    states: list[Any] = []
    for info, each in zip(infos, taps, strict=True):
        value = info["initial"] if isinstance(info, dict) and each else info
        if each in (None, [-1]):
            states.append(value if each else None)
        else:
            states += [
                T.as_variable(value)[_depth(each) - lag] for lag in range(1, _depth(each) + 1)
            ]
    return states


def _is_updates(x: Any) -> bool:
    """Whether `x` is a dict of updates, or a list of pairs of a shared variable and its update."""
    if isinstance(x, (list, tuple)):
        pairs = [e for e in x if isinstance(e, (list, tuple)) and len(e) == 2]
        return len(pairs) == len(x) > 0 and all(isinstance(e[0], SharedVariable) for e in pairs)
    return isinstance(x, Mapping)


def _parts(returned: Any) -> tuple[list[Any], list[Any]]:
    """(outputs, a dict of updates and an until() where they are) of what `fn` of scan() returns."""
    if _is_updates(returned) or isinstance(returned, until):
        returned = [returned]
    outputs: list[Any] = []
    others: list[Any] = []
    for part in _listed(returned):
        if isinstance(part, until):
            others.append(part)
        elif _is_updates(part):
            others.append(OrderedDict(part))
        else:
            outputs += _listed(part)
    return outputs, others


def _with_older_results(
    fn: Callable[..., Any], taps: Sequence[list[int] | None], count: int
) -> Callable[..., Any]:
    """`fn` as a function of all states, of which it gets those of its taps."""

    def step(*arguments: Any) -> Any:
        states, rest = [], list(arguments[count:])
        for each in taps:
            depth = _depth(each) if each else 0
            states.append(rest[:depth])
            rest = rest[depth:]
        read = [
            older[-tap - 1] for older, each in zip(states, taps, strict=True) for tap in each or ()
        ]
        results, others = _parts(fn(*arguments[:count], *read, *rest))
        if taps and len(results) != len(taps):
            raise GraphError(
                f"scan: fn returns {len(results)} outputs, outputs_info has {len(taps)}"
            )
        if taps:
            shifted = [[new, *older[:-1]] for new, older in zip(results, states, strict=True)]
            results = [state for each in shifted for state in each]
        return (results, *others) if others else results

    return step


@with_classes
def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
) -> tuple[Any, OrderedDict[Any, Any]]:
    """As spanwise.graph.scan; returns (outputs, updates). The updates are those of the random streams
    and other shared variables that the loop advances, which a function makes also without them.
    `mode`, `profile` and `allow_gc` have no effect."""
    listed = [] if sequences is None else _listed(sequences)
    sequences = [part for sequence in listed for part in _slices(sequence)]
    infos = [] if outputs_info is None else _listed(outputs_info)
    taps = [_output_taps(info) for info in infos]
    states, updates = _scan(
        _with_older_results(fn, taps, len(sequences)), sequences, _older_results(infos, taps),
        non_sequences, n_steps, go_backwards, name, True, truncate_gradient, strict,
    )  # fmt: skip
    outputs = _listed(states)
    if taps:
        firsts = itertools.accumulate((_depth(each) for each in taps[:-1]), initial=0)
        outputs = [outputs[first] for first in firsts]
    if not return_list and len(outputs) < 2:
        return outputs[0] if outputs else None, OrderedDict(updates)
    return outputs, OrderedDict(updates)


def map(
    fn: Callable[..., Any], sequences: Any, non_sequences: Any = None, **options: Any
) -> tuple[Any, OrderedDict[Any, Any]]:
    """scan() without a state: fn of each element of the sequences."""
    return scan(fn, sequences, None, non_sequences, **options)


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    **options: Any,
) -> tuple[Any, OrderedDict[Any, Any]]:
    """scan() that returns the last state of each output only."""
    outputs, updates = scan(fn, sequences, outputs_info, non_sequences, **options)
    if isinstance(outputs, (list, tuple)):
        return [x[-1] for x in outputs], updates
    return outputs[-1], updates


foldl = reduce


def foldr(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    **options: Any,
) -> tuple[Any, OrderedDict[Any, Any]]:
    """reduce() from the last element to the first."""
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=True, **options)
