# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs as text, in Theano's format (theano/compile/debugmode.py, debugprint)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ._core import Apply, CompiledFunction, Variable
from .graph._op_from_graph import OpFromGraph

__all__ = ["debugprint", "graph", "rewrites"]


def _letters(number: int) -> str:
    """0, 1, ... as A, B, ..., Z, BA, BB, ...: base 26 with A for 0."""
    text = ""
    while True:
        number, digit = divmod(number, 26)
        text = chr(ord("A") + digit) + text
        if number == 0:
            return text


class _Printer:
    def __init__(self, ids: str, print_type: bool, stop_on_name: bool) -> None:
        if ids not in ("CHAR", "int", "id", ""):
            raise ValueError(f'debugprint: ids must be "CHAR", "int", "id" or "", got {ids!r}')
        self.ids = ids
        self.print_type = print_type
        self.stop_on_name = stop_on_name
        #: Positions in the execution order of the function whose output is shown.
        self.order: dict[Apply, int] = {}
        #: The ids of the nodes and variables that were shown, in the order of their first line.
        self.id_texts: dict[Any, str] = {}
        self.lines: list[str] = []

    def _id(self, item: Any) -> str:
        if item not in self.id_texts:
            numbers = {
                "CHAR": _letters(len(self.id_texts)),
                "int": str(len(self.id_texts)),
                "id": str(id(item)),
            }
            self.id_texts[item] = f"[id {numbers[self.ids]}]" if self.ids else ""
        return self.id_texts[item]

    def show(self, root: Variable, depth: int, margin: str = "") -> None:
        """Appends the lines of one output. Iterative, since graphs may be deeper than Python's
        stack."""
        stack = [(root, margin, margin, depth)]
        while stack:
            variable, prefix, child_prefix, depth_left = stack.pop()
            if depth_left == 0:
                continue
            node = variable.owner
            is_known = node in self.id_texts
            self.lines.append(prefix + self._line(variable, node))
            is_named = self.stop_on_name and variable.name is not None
            if node is None or is_known or is_named:
                continue
            inputs = node.inputs
            for i in reversed(range(len(inputs))):
                is_last = i == len(inputs) - 1
                below = child_prefix + ("  " if is_last else " |")
                stack.append((inputs[i], child_prefix + " |", below, depth_left - 1))

    def show_inner(self, depth: int) -> None:
        """Appends the graphs of the OpFromGraph nodes that were shown, as Theano does for scan."""
        shown: list[Apply] = []
        while True:
            ops = [node.op for node in shown]
            nodes = [node for node in self.id_texts if isinstance(node, Apply)]
            inner = [n for n in nodes if isinstance(n.op, OpFromGraph) and n.op not in ops]
            if not inner:
                return
            if not shown:
                self.lines.append("\nInner graphs:")
            shown.append(inner[0])
            self.lines.append(f"\n{inner[0].op} {self._id(inner[0])}")
            for root in inner[0].op.outputs:
                self.show(root, depth, " >")

    def _line(self, variable: Variable, node: Apply | None) -> str:
        shown_type = f" <{variable.type}>" if self.print_type else ""
        if node is None:
            return f"{variable} {self._id(variable)}{shown_type}"
        index = f".{variable.index}" if node.nout > 1 else ""
        position = self.order.get(node, "")
        # Theano prints the destroy map and the view map between these spaces.
        return f"{node.op}{index} {self._id(node)}{shown_type} '{variable.name or ''}'   {position}"


def _roots(caller: str, obj: Any) -> list[tuple[Variable, list[Apply]]]:
    """The variables to print for `obj`, each with the execution order of its function; the order is
    empty for a variable or node that is in no function."""
    roots: list[tuple[Variable, list[Apply]]] = []
    for item in obj if isinstance(obj, (list, tuple, set)) else [obj]:
        if isinstance(item, Variable):
            roots.append((item, []))
        elif isinstance(item, Apply):
            roots += [(output, []) for output in item.outputs]
        elif isinstance(item, CompiledFunction) or hasattr(item, "toposort"):
            fgraph = item.maker.fgraph if isinstance(item, CompiledFunction) else item
            roots += [(output, fgraph.toposort()) for output in fgraph.outputs]
        else:
            raise TypeError(
                f"{caller}: expected a Variable, an Apply, a CompiledFunction or a list of them, got {item!r}"
            )
    return roots


def _printed(lines: list[str], file: Any) -> Any:
    text = "".join(line + "\n" for line in lines)
    if file == "str":
        return text
    print(text, end="", file=file or sys.stdout)
    return file


def debugprint(
    obj: Any,
    depth: int = -1,
    print_type: bool = False,
    file: Any = None,
    ids: str = "CHAR",
    stop_on_name: bool = False,
) -> Any:
    """Prints the graph of a variable, an Apply, a compiled function or a list of them.

    A line is an op or an input, its id, its name and, for a function, its position in the execution
    order; its inputs are indented below it. The inputs of a node are printed once; the graphs of
    OpFromGraph follow at the end. `depth` limits the nesting (-1: no limit); `file="str"` returns
    the text instead. TypeError for other objects.
    """
    roots = _roots("debugprint", obj)
    printer = _Printer(ids, print_type, stop_on_name)
    for root, order in roots:
        printer.order = {node: i for i, node in enumerate(order)}
        printer.show(root, depth)
    printer.show_inner(depth)
    return _printed(printer.lines, file)


def rewrites(f: CompiledFunction, file: Any = None) -> Any:
    """Prints the rewrites that ran when `f` was compiled, with the number of nodes that each
    changed and its time in milliseconds. `file="str"` returns the text instead.
    """
    if not isinstance(f, CompiledFunction):
        raise TypeError(f"rewrites: expected a CompiledFunction, got {f!r}")
    maker = f.maker
    nodes = len(maker.fgraph.toposort())
    lines = [f"Rewrites of function {f.name}, mode {f.mode}, to {nodes} nodes:"]
    lines += [
        f"  {name:<16} {changes:>8}  {seconds * 1e3:10.3f} ms"
        for name, changes, seconds in maker.rewrites
    ]
    return _printed(lines, file)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Dot:
    """A graph as text for Graphviz: nodes are ellipses, leaves boxes, results blue."""

    def __init__(self) -> None:
        self.lines = ["digraph {", "  rankdir=TB; node [fontsize=10]; edge [fontsize=9];"]
        self.names: dict[Any, str] = {}

    def _new(self, item: Any, label: str, style: str) -> str:
        self.names[item] = name = f"n{len(self.names)}"
        self.lines.append(f"  {name} [label={_quoted(label)}, {style}];")
        return name

    def _leaf(self, variable: Variable) -> str:
        return self.names.get(variable) or self._new(
            variable, f"{variable}\n{variable.type}", "shape=box"
        )

    def add(self, root: Variable) -> None:
        """Adds the nodes that `root` depends on. Iterative, since graphs may be deeper than
        Python's stack."""
        if root.owner is None:
            self._leaf(root)
            return
        stack = [root.owner]
        while stack:
            node = stack.pop()
            if node in self.names:
                continue
            self._new(node, str(node.op), "shape=ellipse")
            stack += [v.owner for v in node.inputs if v.owner is not None]

    def add_result(self, root: Variable, number: int) -> None:
        """Adds a box for `root`, the result `number`, and the edge to it."""
        end = self._new(
            ("result", number), f"result {number}\n{root.type}", "shape=box, color=blue"
        )
        start = self.names[root.owner] if root.owner is not None else self._leaf(root)
        self.lines.append(f"  {start} -> {end};")

    def add_edges(self) -> None:
        """Adds the edges between nodes, labelled with the input's index where a node has
        several."""
        for node in [item for item in self.names if isinstance(item, Apply)]:
            for i, variable in enumerate(node.inputs):
                owner = variable.owner
                start = self.names[owner] if owner is not None else self._leaf(variable)
                label = f"{i} {variable.type}" if node.nin > 1 else str(variable.type)
                self.lines.append(f"  {start} -> {self.names[node]} [label={_quoted(label)}];")

    def text(self) -> str:
        return "\n".join([*self.lines, "}"]) + "\n"


def graph(obj: Any, path: Any) -> Path:
    """Draws a graph into the file `path` with Graphviz (``dot``), in the format of its suffix, by
    default SVG.

    For the suffix ``.dot``, or if Graphviz is not installed, it writes the graph as DOT text, with
    the suffix ``.dot``. Returns the path of the written file.
    """
    roots = _roots("graph", obj)
    dot = _Dot()
    for root, _ in roots:
        dot.add(root)
    dot.add_edges()
    for number, (root, _) in enumerate(roots):
        dot.add_result(root, number)
    path = Path(path)
    program = shutil.which("dot")
    if path.suffix != ".dot" and program is not None:
        image_format = path.suffix.lstrip(".") or "svg"
        command = [program, f"-T{image_format}", "-o", str(path)]
        subprocess.run(command, input=dot.text(), text=True, check=True)
        return path
    if path.suffix != ".dot":
        path = path.with_suffix(".dot")
        print(
            f"printing.graph: Graphviz's program dot is not installed, so the graph is in {path} as text; "
            "draw it there with: dot -Tsvg",
            file=sys.stderr,
        )
    path.write_text(dot.text(), encoding="utf-8")
    return path
