# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of functions compiled with ``profile=True``: tables by class, op and node, and a trace.

The tables have the columns of Theano's (theano/compile/profiling.py). Times of nodes on a GPU are
device times, measured by events; others are wall-clock times of the host.
"""

from __future__ import annotations

import atexit
import json
import sys
import weakref
from collections.abc import Callable, Hashable, Iterable
from html import escape
from typing import Any

from ._core import Apply, CompiledFunction
from ._names import explain_call as _explain_call
from .graph._op import NativeOp

__all__ = ["Profile", "plot", "summary", "trace"]

_explain_call(__name__, "sw.function(..., profile=True) measures a function")

_functions: weakref.WeakSet[CompiledFunction] = weakref.WeakSet()
_printed_at_exit: list[CompiledFunction] = []  # profiled by config.profile; kept alive until then
_MAX_ROWS = 20  # of each table
_GROUP_HEAD = "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <{}>"
_NODE_HEAD = "<% time> <sum %> <apply time> <time per call> <#call> <id> <Apply name>"


class Row:
    """One row of a table: summed calls and seconds of nodes; `kind` is "C" (a C++ op) or "Py"."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.calls = self.nodes = 0
        self.seconds = 0.0


class Profile:
    """The profile of one function; ``f.profile.summary()`` prints it. Times are seconds."""

    def __init__(self, function: CompiledFunction) -> None:
        calls, call_seconds, compile_seconds, steps = function._profile_data()
        self.name = function.name
        self.mode = function.mode
        #: Number of calls, and host seconds from the start of each call to its return.
        self.calls: int = calls
        self.call_seconds: float = call_seconds
        self.compile_seconds: float = compile_seconds
        self.rewrite_seconds = sum(seconds for *_, seconds in function.maker.rewrites)
        #: In execution order: (node, calls, seconds, bytes of its outputs).
        self.nodes: list[tuple[Apply, int, float, int]] = steps

    @property
    def node_seconds(self) -> float:
        """The summed seconds of all nodes over all calls."""
        return sum(seconds for _, _, seconds, _ in self.nodes)

    def rows(self, key: Callable[[Apply], Hashable], name: Callable[[Apply], str]) -> list[Row]:
        """The nodes grouped by `key`, by descending time."""
        return grouped(
            (key(node), name(node), isinstance(node.op, NativeOp), calls, seconds)
            for node, calls, seconds, _ in self.nodes
        )

    def classes(self) -> list[Row]:
        """Grouped by the class of the op; for a C++ op by its name without properties."""
        return self.rows(_class_of, _class_of)

    def ops(self) -> list[Row]:
        """Grouped by op; equal ops share a row."""
        return self.rows(lambda node: str(node.op), lambda node: str(node.op))

    def text(self) -> str:
        """The tables as text."""
        total = self.node_seconds
        share = percent(total, self.call_seconds)
        lines = [
            "Function profiling",
            "==================",
            f"  Message: {self.name}, mode {self.mode}",
            f"  Time in {self.calls} calls to CompiledFunction.__call__: {self.call_seconds:e}s",
            f"  Time in thunks: {total:e}s ({share:.3f}%)",
            f"  Total compile time: {self.compile_seconds:e}s",
            f"    Number of Apply nodes: {len(self.nodes)}",
            f"    Rewrite time: {self.rewrite_seconds:e}s",
            f"  Memory of the nodes' results: {sum(row[3] for row in self.nodes)} bytes",
        ]
        steps = [
            (seconds, calls, position, f"{node} ({size} bytes)")
            for position, (node, calls, seconds, size) in enumerate(self.nodes)
        ]
        lines += Tables(total).lines(self.classes(), self.ops(), steps)
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str:
        """The ops by descending time, for notebooks."""
        total = self.node_seconds
        head = f"{self.name}: {self.calls} calls, {self.call_seconds:.6f} s; in ops {total:.6f} s"
        rows = "".join(
            f"<tr><td>{percent(row.seconds, total):.1f} %</td><td>{row.seconds * 1e3:.3f} ms</td>"
            f"<td>{row.calls}</td><td>{escape(row.name)}</td></tr>"
            for row in self.ops()[:_MAX_ROWS]
        )
        titles = "<tr><th>share</th><th>time</th><th>calls</th><th>op</th></tr>"
        return f"<div><small>{escape(head)}</small><table>{titles}{rows}</table></div>"

    def summary(self, file: Any = None) -> None:
        """Prints the tables to `file`, by default stderr."""
        print(self.text(), end="", file=file or sys.stderr)


def _class_of(node: Apply) -> str:
    if isinstance(node.op, NativeOp):
        return str(node.op).split("{")[0].split("[")[0]
    op = type(node.op)
    return f"{op.__module__}.{op.__qualname__}"


def grouped(steps: Iterable[tuple[Hashable, str, bool, int, float]]) -> list[Row]:
    """A Row for each key, by descending time. `steps` are (key, name, whether the op is a C++ op,
    calls, seconds)."""
    rows: dict[Hashable, Row] = {}
    for key, name, is_native, calls, seconds in steps:
        row = rows.setdefault(key, Row(name, "C" if is_native else "Py"))
        row.calls += calls
        row.nodes += 1
        row.seconds += seconds
    return sorted(rows.values(), key=lambda row: -row.seconds)


def percent(part: float, total: float) -> float:
    return 100 * part / total if total else 0.0


class Tables:
    """Tables by descending time; percentages are of `total` seconds."""

    #: Of all lines, and of the percentage of the rows that a table omits.
    indent, omitted_format = "   ", "6.2f"

    def __init__(self, total: float) -> None:
        self.total = total

    def lines(
        self, classes: list[Row], ops: list[Row], nodes: list[tuple[float, int, int, str]]
    ) -> list[str]:
        """The three tables. Nodes are given as (seconds, calls, number, text)."""
        lines = []
        groups = (("Class", "Class name", "Classes", classes), ("Ops", "Op name", "Ops", ops))
        for title, column, kind, rows in groups:
            timed = [
                (r.seconds, r.calls, f"{r.kind:>4}  {r.calls:6d}  {r.nodes:4d}   {r.name}")
                for r in rows
            ]
            head = self.indent + _GROUP_HEAD.format(column)
            lines += ["", title, "---", head, *self._lines(timed, kind)]
        timed = [
            (seconds, calls, f"{calls:6d}  {number:4d}   {text}")
            for seconds, calls, number, text in nodes
        ]
        head = self.indent + _NODE_HEAD
        return [*lines, "", "Apply", "------", head, *self._lines(timed, "Apply instances")]

    def _lines(self, rows: list[tuple[float, int, str]], kind: str) -> list[str]:
        rows = sorted(rows, key=lambda row: -row[0])
        lines, so_far = [], 0.0
        for seconds, calls, text in rows[:_MAX_ROWS]:
            part = percent(seconds, self.total)
            so_far += part
            per_call = seconds / calls if calls else 0.0
            lines.append(
                f"{self.indent}{part:5.1f}%  {so_far:5.1f}%  {seconds:9.3f}s  {per_call:.2e}s  {text}"
            )
        omitted = [seconds for seconds, _, _ in rows[_MAX_ROWS:]]
        lines.append(
            f"{self.indent}... (remaining {len(omitted)} {kind} account for "
            f"{percent(sum(omitted), self.total):{self.omitted_format}}%({sum(omitted):.2f}s) of the runtime)"
        )
        return lines


def watch(function: CompiledFunction, prints_at_exit: bool) -> None:
    """Adds a function to the defaults of summary() and trace(). With `prints_at_exit` it also keeps the
    function alive, and prints its summary when the interpreter exits."""
    _functions.add(function)
    if prints_at_exit:
        if not _printed_at_exit:
            atexit.register(summary)
        _printed_at_exit.append(function)


def _selected(functions: Iterable[CompiledFunction]) -> list[CompiledFunction]:
    return list(functions) or sorted(_functions, key=lambda f: f.name)


def summary(*functions: CompiledFunction, file: Any = None) -> None:
    """Prints the tables of `functions`, by default of all live profiled functions. Functions that
    were not profiled or not called are skipped."""
    for function in _selected(functions):
        if function.profile is not None and function.profile.calls:
            function.profile.summary(file)


def trace(path: Any, *functions: CompiledFunction) -> None:
    """Writes a timeline of the node runs (up to 100,000 of each function) to the file `path`, in
    Chrome's trace format for chrome://tracing or Perfetto. By default of all live profiled
    functions."""
    events: list[dict[str, Any]] = []
    for number, function in enumerate(_selected(functions)):
        events.append(
            {"ph": "M", "name": "process_name", "pid": number, "args": {"name": function.name}}
        )
        nodes = function.maker.fgraph.toposort()
        events += [
            {
                "ph": "X",
                "name": str(nodes[step].op),
                "cat": "node",
                "pid": number,
                "tid": 0,
                "ts": start * 1e6,
                "dur": seconds * 1e6,
                "args": {"node": str(nodes[step]), "id": step},
            }
            for step, start, seconds in function._profile_spans()
        ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def plot(path: Any, *functions: CompiledFunction) -> None:
    """Draws the timeline that trace() writes into the picture `path` (PNG, SVG, PDF), a row for each op,
    by matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            "profile.plot draws by matplotlib, which is not installed: pip install matplotlib; "
            "profile.trace(path) writes the same timeline for Perfetto"
        ) from None
    rows: dict[str, list[tuple[float, float]]] = {}
    several = len(chosen := _selected(functions)) > 1
    for function in chosen:
        nodes = function.maker.fgraph.toposort()
        for step, start, seconds in function._profile_spans():
            name = str(nodes[step].op).partition("{")[0]
            name = f"{function.name}: {name}" if several else name
            rows.setdefault(name, []).append((start * 1e3, seconds * 1e3))
    figure = Figure(figsize=(9, 1.2 + 0.32 * max(len(rows), 1)), layout="constrained")
    axes = figure.add_subplot()
    for row, spans in enumerate(rows.values()):
        axes.broken_barh(spans, (row - 0.4, 0.8), facecolors=f"C{row % 10}")
    axes.set_yticks(range(len(rows)), [name[:48] for name in rows])
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds")
    figure.savefig(path)
