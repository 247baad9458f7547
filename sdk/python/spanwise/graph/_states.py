# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""States: shared variables that a graph itself advances, such as those of random streams.

A node advances a state if its op has it in ``state_map``; other states have only a `default_update`.
In a function, and in the body of a loop or of an OpFromGraph, the nodes that advance a state read it
one after the other, in the order in which they were made, so that each draw has its own numbers. The
value after the last one is the update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core import Apply, SharedVariable, Variable, _WeakOutput
from ._traversal import ancestors, clone, copied_outputs, variables_of

array_of = SharedVariable.get_value  # which spanwise.theano replaces in the class
Updates = list[tuple[Any, Variable]]  # pairs of a shared variable and its next value


def default_update_of(x: SharedVariable) -> Variable | None:
    """``x.default_update``."""
    update = getattr(x.tag, "default_update", None)
    return update() if isinstance(update, _WeakOutput) else update


def set_default_update(x: SharedVariable, update: Variable | None) -> None:
    """``x.default_update = update``, of the type of `x`."""
    if update is None:
        vars(x.tag).pop("default_update", None)
        return
    # A draw keeps the state alive that it advances; the state must not keep the draw.
    node, op = update.owner, getattr(update.owner, "op", None)
    i = getattr(op, "state_map", {}).get(update.index)
    is_own = i is not None and node.inputs[i] is x
    x.tag.default_update = _WeakOutput(update) if is_own else update


def is_state(x: Variable) -> bool:
    return isinstance(x, SharedVariable) and getattr(x.tag, "default_update", None) is not None


def with_default_updates(
    roots: Sequence[Variable],
    boundary: Sequence[Variable] = (),
    updates: Updates = (),
    without: Any = (),
) -> tuple[dict[Variable, Variable], Updates]:
    """({variable: its copy}, updates) of the graph of `roots` and of the values of `updates`.

    The graph is copied where several nodes advance a state, or else stays. The updates are the given
    ones, then the default updates of the states that the graph reads, except of those in `without`, a
    list, or True for all. A given update to a value that the graph computes as the next one of the
    state, or to its default_update, becomes the value after all nodes that advance it.
    """
    if not any(map(is_state, variables_of([*roots, *(y for _, y in updates)], boundary))):
        return {}, list(updates)
    asked = [x for x, y in updates if y is default_update_of(x)]
    given = [(x, y) for x, y in updates if x not in asked]
    excluded = {*(x for x, _ in given), *(() if without is True else without or ())}
    roots = [*roots, *(y for _, y in given), *asked]
    literal: dict[Any, Variable] = {}
    while True:
        graph = _StateChain(ancestors(roots, boundary))
        states = [x for x in variables_of(roots, boundary) if is_state(x)]
        states = [x for x in states if x in asked or (without is not True and x not in excluded)]
        unknown = [x for x in states if x not in graph.last and x not in literal]
        new = {x: y for x in unknown if (y := default_update_of(x)) is not None}
        if not new:
            break
        literal.update(new)
        roots += new.values()
    advanced = [x for x in states if x in graph.last or x in literal]
    pairs = [*given, *((x, literal.get(x)) for x in advanced)]
    return graph.new_of, [(x, graph.next_value(x, y)) for x, y in pairs]


def body_of_loop(
    outputs: Sequence[Variable],
    arguments: Sequence[Variable],
    first_serial: int,
    updates: Mapping[Any, Variable],
) -> tuple[list[Variable], list[Variable], dict[Any, Variable], list[Variable]]:
    """(outputs, variables from outside, {state: variable for its value before a step}, values after a
    step) of the body of a loop, a graph of `arguments` that makes `updates`.

    In the body are the nodes that depend on arguments and, among those from serial number
    `first_serial` on, nodes with effects and nodes that only a branch of the body needs, with all that
    depends on them. It reads others from outside.
    """
    next_of = dict(updates)
    values: dict[Any, Variable] = {}
    new = list(updates)
    while True:
        values.update((x, x.type(x.name)) for x in new)
        roots = [*outputs, *next_of.values()]
        nodes, read = _nodes_inside(roots, [*arguments, *updates], first_serial)
        chain = _StateChain(nodes, values)
        states = [x for x in dict.fromkeys((*chain.last, *read)) if is_state(x) and x not in values]
        defaults = {x: default_update_of(x) for x in states if x not in chain.last}
        new = [x for x in states if defaults.get(x, x) is not None]
        if not new:
            break
        # Copies have new nodes, which are in the body.
        next_of.update((x, clone(y)) for x, y in defaults.items() if y is not None)
    outside = [x for x in read if x not in values]
    after = [chain.next_value(x, next_of.get(x)) for x in values]
    return [chain.current(y) for y in outputs], outside, values, after


def _nodes_inside(
    roots: Sequence[Variable], arguments: Sequence[Variable], first_serial: int
) -> tuple[list[Apply], list[Variable]]:
    """The nodes of a body, and the variables from outside that it reads."""
    graph = ancestors(roots, arguments)
    nodes, inside = _dependent_nodes(graph, arguments, first_serial, set())
    if any(len(node._always_needed) < len(node.inputs) for node in nodes):
        conditional = _conditional_outputs(graph, roots, inside)
        nodes, inside = _dependent_nodes(graph, arguments, first_serial, conditional)
    read = dict.fromkeys(x for node in nodes for x in node.inputs if x not in inside)
    read.update(dict.fromkeys(y for y in roots if y not in inside))
    return nodes, list(read)


def _dependent_nodes(
    graph: Sequence[Apply],
    arguments: Sequence[Variable],
    first_serial: int,
    conditional: set[Variable],
) -> tuple[list[Apply], set[Variable]]:
    """The nodes of a body where nodes with outputs in `conditional` are inside, and the variables that
    depend on arguments or on these nodes."""
    inside = set(arguments)
    nodes = []
    for node in graph:
        belongs = any(map(is_state, node.inputs)) or not node._is_pure
        belongs |= node.outputs[0] in conditional
        if any(x in inside for x in node.inputs) or (belongs and node._serial >= first_serial):
            inside.update(node.outputs)
            nodes.append(node)
    return nodes, inside


def _conditional_outputs(
    graph: Sequence[Apply], roots: Sequence[Variable], inside: set[Variable]
) -> set[Variable]:
    """The outputs of nodes that `roots` need by a branch of a node inside the body only."""
    needed = set(roots)
    for node in reversed(graph):
        if not needed.isdisjoint(node.outputs):
            is_inside = node.outputs[0] in inside
            needed.update(node._always_needed if is_inside else node.inputs)
    return {y for node in graph for y in node.outputs if needed.isdisjoint(node.outputs)}


class _StateChain:
    """`nodes`, in the order in which they were made, with copies where one reads a state that a node
    before it advances. `values` has variables that stand for states."""

    def __init__(
        self, nodes: Iterable[Apply], values: Mapping[Any, Variable] | None = None
    ) -> None:
        #: Variable of the graph -> its copy.
        self.new_of: dict[Variable, Variable] = dict(values or {})
        #: State that a node advances -> its value after the last of these nodes.
        self.last: dict[Any, Variable] = {}
        #: Output of such a node -> the state of which it is a value.
        self.state_of: dict[Variable, Any] = {}
        for node in nodes:
            self._visit(node)

    def current(self, x: Variable) -> Variable:
        return self.new_of.get(x, x)

    def next_value(self, state: Any, update: Variable | None) -> Variable:
        """The value of `state` after all nodes, where its update is `update`, if it has one."""
        if update is None or self.state_of.get(update) == state:
            return self.last[state]
        return self.current(update)

    def _visit(self, node: Apply) -> None:
        read = node.inputs
        inputs = [self.current(x) for x in read]
        states = [x if isinstance(x, SharedVariable) else self.state_of.get(x) for x in read]
        advanced = {}
        if any(state is not None for state in states):
            op: Any = node.op
            advanced = {k: i for k, i in op.state_map.items() if states[i] is not None}
        for i in advanced.values():
            inputs[i] = self.last.get(states[i], inputs[i])
        outputs = node.outputs
        if inputs != read:
            outputs = copied_outputs(node, inputs)
            self.new_of.update(zip(node.outputs, outputs, strict=True))
        for k, i in advanced.items():
            self.state_of[node.outputs[k]] = states[i]
            self.last[states[i]] = outputs[k]
