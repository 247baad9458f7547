# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs as text, in Theano's format (theano/compile/debugmode.py, debugprint)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html import escape
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


class _Drawing:
    """Boxes and arrows of a graph: nodes, leaves and results."""

    #: DOT's attributes, and fill and border in SVG, of each kind of box.
    _STYLES = {
        "node": ("shape=ellipse", "#e8f0fe", "#4a76c9"),
        "leaf": ("shape=box", "#f6f6f6", "#888888"),
        "result": ("shape=box, color=blue", "#ffffff", "#1a3ee8"),
    }

    def __init__(self, roots: list[Variable]) -> None:
        self.names: dict[Any, int] = {}
        self.boxes: list[tuple[str, str]] = []  # (label, kind)
        self.arrows: list[tuple[int, int, str]] = []  # (from, to, label)
        for root in roots:
            self._add(root)
        for node in [item for item in self.names if isinstance(item, Apply)]:
            for i, variable in enumerate(node.inputs):
                start = self._start(variable)
                label = f"{i} {variable.type}" if node.nin > 1 else str(variable.type)
                self.arrows.append((start, self.names[node], label))
        for number, root in enumerate(roots):
            end = self._new(("result", number), f"result {number}\n{root.type}", "result")
            self.arrows.append((self._start(root), end, ""))

    def _new(self, item: Any, label: str, kind: str) -> int:
        self.names[item] = len(self.boxes)
        self.boxes.append((label, kind))
        return self.names[item]

    def _start(self, variable: Variable) -> int:
        item = variable.owner if variable.owner is not None else variable
        if item not in self.names:
            self._new(item, f"{variable}\n{variable.type}", "leaf")
        return self.names[item]

    def _add(self, root: Variable) -> None:
        """Adds the nodes that `root` depends on. Iterative, since graphs may be deeper than
        Python's stack."""
        stack = [root.owner] if root.owner is not None else []
        while stack:
            node = stack.pop()
            if node not in self.names:
                self._new(node, str(node.op), "node")
                stack += [v.owner for v in node.inputs if v.owner is not None]

    def dot(self) -> str:
        """Text for Graphviz."""
        lines = ["digraph {", "  rankdir=TB; node [fontsize=10]; edge [fontsize=9];"]
        for number, (label, kind) in enumerate(self.boxes):
            lines.append(f"  n{number} [label={_quoted(label)}, {self._STYLES[kind][0]}];")
        for start, end, label in self.arrows:
            note = f" [label={_quoted(label)}]" if label else ""
            lines.append(f"  n{start} -> n{end}{note};")
        return "\n".join([*lines, "}"]) + "\n"

    def _levels(self) -> list[list[int]]:
        """The boxes by the length of the longest way to them, each level in the order of its inputs."""
        incoming: list[list[int]] = [[] for _ in self.boxes]
        outgoing: list[list[int]] = [[] for _ in self.boxes]
        for start, end, _ in self.arrows:
            incoming[end].append(start)
            outgoing[start].append(end)
        level = [0] * len(self.boxes)
        missing = [len(starts) for starts in incoming]
        ready = [number for number, count in enumerate(missing) if count == 0]
        for number in ready:
            for end in outgoing[number]:
                level[end] = max(level[end], level[number] + 1)
                missing[end] -= 1
                if missing[end] == 0:
                    ready.append(end)
        for number, ends in enumerate(outgoing):  # leaves are drawn next to what they are used by
            if not incoming[number] and ends:
                level[number] = min(level[end] for end in ends) - 1
        rows: list[list[int]] = [[] for _ in range(max(level, default=0) + 1)]
        place: dict[int, float] = {}
        for number in sorted(range(len(self.boxes)), key=lambda n: level[n]):
            rows[level[number]].append(number)
        for row in rows:
            row.sort(
                key=lambda n: sum(place.get(s, 0) for s in incoming[n]) / (len(incoming[n]) or 1)
            )
            place |= {number: at - len(row) / 2 for at, number in enumerate(row)}
        return rows

    def svg(self) -> str:
        """A picture, from inputs above to results below."""
        texts = [[line[:40] for line in label.split("\n")] for label, _ in self.boxes]
        widths = [max(map(len, lines)) * 6.4 + 20 for lines in texts]
        rows = self._levels()
        row_widths = [sum(widths[n] + 24 for n in row) for row in rows]
        total = max(row_widths, default=0) + 24
        center: dict[int, tuple[float, float]] = {}
        for depth, (row, width) in enumerate(zip(rows, row_widths, strict=True)):
            x = (total - width) / 2 + 12
            for number in row:
                center[number] = (x + widths[number] / 2, 32 + depth * 74)
                x += widths[number] + 24
        parts = []
        for start, end, label in self.arrows:
            (x1, y1), (x2, y2) = center[start], center[end]
            parts.append(
                f'<path d="M{x1:.0f} {y1 + 18:.0f} L{x2:.0f} {y2 - 19:.0f}" stroke="#999" '
                f'fill="none" marker-end="url(#sw-arrow)"><title>{escape(label)}</title></path>'
            )
        for number, (_, kind) in enumerate(self.boxes):
            x, y = center[number]
            _, fill, border = self._STYLES[kind]
            parts.append(
                f'<rect x="{x - widths[number] / 2:.0f}" y="{y - 18:.0f}" width="{widths[number]:.0f}" '
                f'height="36" rx="{14 if kind == "node" else 3}" fill="{fill}" stroke="{border}"/>'
            )
            lines = texts[number]
            for at, line in enumerate(lines):
                height = y + 4 + (at - (len(lines) - 1) / 2) * 13
                parts.append(f'<text x="{x:.0f}" y="{height:.0f}">{escape(line)}</text>')
        height = len(rows) * 74
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height}" '
            f'width="{total:.0f}" height="{height}" font-family="monospace" font-size="10" '
            'text-anchor="middle"><defs><marker id="sw-arrow" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#999"/>'
            f"</marker></defs>{''.join(parts)}</svg>"
        )


#: Graphs of more nodes are text in notebooks: a picture would be too wide to read.
_LARGEST_PICTURE = 150


def _html(x: Variable) -> str:
    """The graph of a variable for a notebook: a picture, or text where it is large."""
    drawing = _Drawing([x])
    if len(drawing.boxes) <= _LARGEST_PICTURE:
        return drawing.svg()
    return f"<pre>{escape(debugprint(x, file='str'))}</pre>"


def graph(obj: Any, path: Any) -> Path:
    """Draws a graph into the file `path` in the format of its suffix, by default SVG: by Graphviz
    (``dot``), or without it, for SVG, by a simpler layout of its own.

    For the suffix ``.dot``, and for other formats if Graphviz is not installed, it writes the graph as
    DOT text, with the suffix ``.dot``. Returns the path of the written file.
    """
    drawing = _Drawing([root for root, _ in _roots("graph", obj)])
    path = Path(path)
    image_format = path.suffix.lstrip(".") or "svg"
    program = shutil.which("dot")
    if image_format != "dot" and program is not None:
        command = [program, f"-T{image_format}", "-o", str(path)]
        subprocess.run(command, input=drawing.dot(), text=True, check=True)
        return path
    if image_format == "svg":
        path.write_text(drawing.svg(), encoding="utf-8")
        return path
    if image_format != "dot":
        path = path.with_suffix(".dot")
        print(
            f"printing.graph: Graphviz's program dot is not installed, so the graph is in {path} as text; "
            f"draw it there with: dot -T{image_format}",
            file=sys.stderr,
        )
    path.write_text(drawing.dot(), encoding="utf-8")
    return path
