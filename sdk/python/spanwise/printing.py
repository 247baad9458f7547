# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs as text, in Theano's format (theano/compile/debugmode.py, debugprint)."""

from __future__ import annotations

import sys
from typing import Any

from ._core import Apply, CompiledFunction, Variable

__all__ = ["debugprint", "rewrites"]


def _letters(number: int) -> str:
    """0, 1, ... as A, B, ..., Z, BA, BB, ...: base 26 with A for 0."""
    text = ""
    while True:
        number, digit = divmod(number, 26)
        text = chr(ord("A") + digit) + text
        if number == 0:
            return text


class _Printer:
    def __init__(self, ids: str, print_type: bool, stop_on_name: bool, order: list[Apply]) -> None:
        if ids not in ("CHAR", "int", "id", ""):
            raise ValueError(f'debugprint: ids must be "CHAR", "int", "id" or "", got {ids!r}')
        self.ids = ids
        self.print_type = print_type
        self.stop_on_name = stop_on_name
        self.order = {node: i for i, node in enumerate(order)}
        self.done: dict[Any, str] = {}
        self.lines: list[str] = []

    def _id(self, thing: Any) -> str:
        if thing not in self.done:
            numbers = {
                "CHAR": _letters(len(self.done)),
                "int": str(len(self.done)),
                "id": str(id(thing)),
            }
            self.done[thing] = f"[id {numbers[self.ids]}]" if self.ids else ""
        return self.done[thing]

    def show(self, root: Variable, depth: int) -> None:
        """The lines of one output: a walk with its own stack, as graphs may be deep."""
        stack = [(root, "", "", depth)]
        while stack:
            variable, prefix, child_prefix, left = stack.pop()
            if left == 0:
                continue
            node = variable.owner
            is_known = node in self.done
            self.lines.append(prefix + self._line(variable, node))
            is_named = self.stop_on_name and variable.name is not None
            if node is None or is_known or is_named:
                continue
            inputs = node.inputs
            for i in reversed(range(len(inputs))):
                is_last = i == len(inputs) - 1
                below = child_prefix + ("  " if is_last else " |")
                stack.append((inputs[i], child_prefix + " |", below, left - 1))

    def _line(self, variable: Variable, node: Apply | None) -> str:
        shown_type = f" <{variable.type}>" if self.print_type else ""
        if node is None:
            return f"{variable} {self._id(variable)}{shown_type}"
        index = f".{variable.index}" if node.nout > 1 else ""
        place = self.order.get(node, "")
        # Destroy map and view map would stand between the last spaces.
        return f"{node.op}{index} {self._id(node)}{shown_type} '{variable.name or ''}'   {place}"


def debugprint(
    obj: Any,
    depth: int = -1,
    print_type: bool = False,
    file: Any = None,
    ids: str = "CHAR",
    stop_on_name: bool = False,
) -> Any:
    """Prints the graph of a variable, an Apply, a compiled function or a list of them.

    A line is an op or an input, its id, its name and, for a function, its place in the order of
    execution; what a line needs is indented below it. Nodes that were printed before are not repeated.
    `file="str"` returns the text instead.
    """
    roots: list[tuple[Variable, list[Apply]]] = []
    for thing in obj if isinstance(obj, (list, tuple, set)) else [obj]:
        if isinstance(thing, Variable):
            roots.append((thing, []))
        elif isinstance(thing, Apply):
            roots += [(output, []) for output in thing.outputs]
        elif isinstance(thing, CompiledFunction) or hasattr(thing, "toposort"):
            graph = thing.maker.fgraph if isinstance(thing, CompiledFunction) else thing
            roots += [(output, graph.toposort()) for output in graph.outputs]
        else:
            raise TypeError(
                f"debugprint: expected a Variable, an Apply, a CompiledFunction or a list of them, got {thing!r}"
            )
    printer = _Printer(
        ids, print_type, stop_on_name, [node for _, order in roots for node in order]
    )
    for root, order in roots:
        if order:
            printer.order = {node: i for i, node in enumerate(order)}
        printer.show(root, depth)
    text = "".join(line + "\n" for line in printer.lines)
    if file == "str":
        return text
    print(text, end="", file=file or sys.stdout)
    return file


def rewrites(f: CompiledFunction, file: Any = None) -> Any:
    """Prints which rewrites ran when `f` was compiled, how many nodes each changed, and for how long.

    `file="str"` returns the text instead.
    """
    maker = f.maker
    nodes = len(maker.fgraph.toposort())
    lines = [f"Rewrites of function {f.name}, mode {f.mode}, to {nodes} nodes:"]
    lines += [
        f"  {name:<16} {changes:>8}  {seconds * 1e3:10.3f} ms"
        for name, changes, seconds in maker.rewrites
    ]
    text = "\n".join(lines) + "\n"
    if file == "str":
        return text
    print(text, end="", file=file or sys.stdout)
    return file
