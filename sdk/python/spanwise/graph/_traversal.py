# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Traversal, cloning and comparison of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core import Apply, Constant, GraphError, TensorType, Variable, _as_variable as as_variable
from .._numpy.elementwise import array_equal

__all__ = ["ancestors", "clone", "equal"]


def as_list(value: Any) -> list[Any]:
    """The elements of a list or tuple; another value as the only element."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def as_pairs(caller: str, argument: str, pairs: Any) -> list[tuple[Variable, Any]]:
    """A dict or a list of pairs, passed as `argument`, as a list of pairs. The first of each must be a
    Variable; the second may be any value."""
    if isinstance(pairs, Mapping):
        pairs = pairs.items()
    result = []
    for pair in pairs if isinstance(pairs, Iterable) else [pairs] if pairs else []:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"{caller}: {argument} must be a dict or a list of pairs, got {pair!r} in it"
            )
        old, new = pair
        if not isinstance(old, Variable):
            raise GraphError(f"{caller}: {argument} names {old!r}, which is no variable")
        result.append((old, new))
    return result


def open_variable(x: Variable, name: str | None = None, rank: int | None = None) -> Variable:
    """A variable of the dtype and the rank of `x`, or of `rank`, without fixed extents."""
    return TensorType(x.dtype, (None,) * (x.ndim if rank is None else rank))(name)


def ancestors(outputs: Iterable[Variable], boundary: Iterable[Variable] = ()) -> list[Apply]:
    """The nodes that compute `outputs`, in the order in which they were made: inputs first.

    The owners of variables in `boundary` and their ancestors are left out. Iterative, for graphs of
    any depth.
    """
    done: set[Variable] = set(boundary)
    nodes: list[Apply] = []
    stack = listed_variables(outputs)
    while stack:
        x = stack.pop()
        node = x.owner
        if node is None or x in done:
            continue
        done.update(node.outputs)
        nodes.append(node)
        stack.extend(node.inputs)
    return sorted(nodes, key=lambda node: node._serial)


def variables_of(
    outputs: Iterable[Variable], boundary: Iterable[Variable] = ()
) -> dict[Variable, None]:
    """`outputs`, and the inputs of the nodes of ancestors(), as the keys of a dict."""
    variables = dict.fromkeys(outputs)
    for node in ancestors(list(variables), boundary):
        variables.update(dict.fromkeys(node.inputs))
    return variables


def clone(
    outputs: Any, replace: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None = None
) -> Any:
    """A copy of the graph of `outputs` with new nodes. Inputs, constants and shared variables are
    not copied: a copy of a random draw takes other numbers of the same stream.

    `outputs` is a variable, or a list, tuple or dict of them, and so is the result. `replace` maps
    variables to replacements of the same dtype and rank: ``{x: y * 2}``. Raises GraphError for
    others.
    """
    new_of = dict(as_pairs("clone", "replace", replace))
    for old, value in new_of.items():
        new_of[old] = _replacement(old, value)
    roots = listed_variables(outputs)
    for node in ancestors(roots, new_of):
        copied = copied_outputs(node, [new_of.get(v, v) for v in node.inputs])
        for old, new in zip(node.outputs, copied, strict=True):
            new_of.setdefault(old, new)
    if isinstance(outputs, Mapping):
        return {key: new_of.get(x, x) for key, x in outputs.items()}
    if isinstance(outputs, (list, tuple)):
        return type(outputs)(new_of.get(x, x) for x in roots)
    return new_of.get(outputs, outputs)


def copied_outputs(node: Apply, inputs: list[Variable]) -> list[Variable]:
    """The outputs of a copy of `node` on `inputs`, with the names and tags of its own."""
    outputs = node.clone_with_new_inputs(inputs).outputs
    for old, new in zip(node.outputs, outputs, strict=True):
        new.name = old.name
        vars(new.tag).update(vars(old.tag))
    return outputs


def _replacement(old: Variable, value: Any) -> Variable:
    new = as_variable(value)
    if new.dtype != old.dtype or new.ndim != old.ndim:
        raise GraphError(
            f"clone: replace= maps {old} of {old.type} to {new} of {new.type}; expected "
            "the same dtype and rank: cast it"
        )
    return new


def listed_variables(outputs: Any) -> list[Variable]:
    """A variable, or those of an iterable, as a list; the values of a dict. Raises GraphError for
    other values."""
    if isinstance(outputs, Mapping):
        outputs = outputs.values()
    is_iterable = isinstance(outputs, Iterable) and not isinstance(outputs, Variable)
    listed = list(outputs) if is_iterable else [outputs]
    for x in listed:
        if not isinstance(x, Variable):
            raise GraphError(f"expected variables of a graph, got {x!r}")
    return listed


def equal(
    xs: Any,
    ys: Any,
    in_xs: Sequence[Variable] | None = None,
    in_ys: Sequence[Variable] | None = None,
) -> bool:
    """Whether two graphs (a variable each, or lists) apply equal ops in the same structure.

    Constants must have equal values. Inputs and shared variables must correspond one to one, with
    equal types. `in_xs` and `in_ys` fix that correspondence; all other inputs must then be the same
    variables in both graphs.
    """
    left, right = listed_variables(xs), listed_variables(ys)
    if len(left) != len(right) or len(in_xs or ()) != len(in_ys or ()):
        return False
    partners = dict(zip(in_xs or (), in_ys or (), strict=True))
    leaves = _Leaves(partners, is_free=in_xs is None)
    seen: set[tuple[Variable, Variable]] = set(partners.items())
    stack = list(zip(left, right, strict=True))
    while stack:
        x, y = stack.pop()
        if (x, y) in seen:
            continue
        seen.add((x, y))
        if x.type != y.type:
            return False
        if x.owner is None or y.owner is None or x in partners:
            if not leaves.match(x, y):
                return False
            continue
        a, b = x.owner, y.owner
        if x.index != y.index or a.nin != b.nin or a.op != b.op:
            return False
        stack.extend(zip(a.inputs, b.inputs, strict=True))
    return True


class _Leaves:
    """The correspondence between the inputs of two graphs; match() extends it if `is_free`."""

    def __init__(self, partners: dict[Variable, Variable], is_free: bool) -> None:
        self._partners = dict(partners)
        self._taken = {y: x for x, y in partners.items()}
        self._is_free = is_free

    def match(self, x: Variable, y: Variable) -> bool:
        """Whether two variables without nodes correspond; constants do by their values."""
        if x.owner is not None or y.owner is not None:
            return False
        if isinstance(x, Constant) or isinstance(y, Constant):
            both = isinstance(x, Constant) and isinstance(y, Constant)
            return both and array_equal(x.data, y.data, equal_nan=x.dtype.kind in "fc")
        if x in self._partners or y in self._taken:
            return self._partners.get(x) is y
        if not self._is_free:
            return x is y
        self._partners[x] = y
        self._taken[y] = x
        return type(x) is type(y)
