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
from typing import Any

from ._core import Apply, CompiledFunction
from ._graph.op import NativeOp

__all__ = ["Profile", "summary", "trace"]

_functions: weakref.WeakSet[CompiledFunction] = weakref.WeakSet()
_kept: list[CompiledFunction] = []  # profiled by config.profile; kept alive and printed at exit
_ROWS = 20
_LINE = "   <% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <{name}>"
_NODE_LINE = "   <% time> <sum %> <apply time> <time per call> <#call> <id> <Apply name>"


class Row:
    """One row of a table: a group of nodes and their summed calls and seconds."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.calls = 0
        self.nodes = 0
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
        found: dict[Hashable, Row] = {}
        for node, calls, seconds, _ in self.nodes:
            kind = "C" if isinstance(node.op, NativeOp) else "Py"
            row = found.setdefault(key(node), Row(name(node), kind))
            row.calls += calls
            row.nodes += 1
            row.seconds += seconds
        return sorted(found.values(), key=lambda row: -row.seconds)

    def classes(self) -> list[Row]:
        """Grouped by the class of the op; for a C++ op by its name without properties."""
        return self.rows(_class_of, _class_of)

    def ops(self) -> list[Row]:
        """Grouped by op; equal ops share a row."""
        return self.rows(lambda node: str(node.op), lambda node: str(node.op))

    def text(self) -> str:
        """The tables as text."""
        total = self.node_seconds
        share = 100 * total / self.call_seconds if self.call_seconds else 0.0
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
        for title, rows in (("Class", self.classes()), ("Ops", self.ops())):
            column = "Class name" if title == "Class" else "Op name"
            lines += ["", title, "---", _LINE.format(name=column), *_table(rows, total, title)]
        lines += ["", "Apply", "------", _NODE_LINE, *self._apply_table(total)]
        return "\n".join(lines) + "\n"

    def _apply_table(self, total: float) -> list[str]:
        order = sorted(enumerate(self.nodes), key=lambda entry: -entry[1][2])
        lines, so_far = [], 0.0
        for place, (node, calls, seconds, size) in order[:_ROWS]:
            part = _percent(seconds, total)
            so_far += part
            lines.append(
                f"   {part:5.1f}%  {so_far:5.1f}%  {seconds:9.3f}s  {_each(seconds, calls)}  "
                f"{calls:6d}  {place:4d}   {node} ({size} bytes)"
            )
        return lines + _rest([entry[1][2] for entry in order], total, "Apply instances")

    def summary(self, file: Any = None) -> None:
        """Prints the tables to `file`, by default stderr."""
        print(self.text(), end="", file=file or sys.stderr)


def _class_of(node: Apply) -> str:
    if isinstance(node.op, NativeOp):
        return str(node.op).split("{")[0].split("[")[0]
    op = type(node.op)
    return f"{op.__module__}.{op.__qualname__}"


def _percent(part: float, total: float) -> float:
    return 100 * part / total if total else 0.0


def _each(seconds: float, calls: int) -> str:
    return f"{seconds / calls if calls else 0.0:.2e}s"


def _rest(seconds: list[float], total: float, what: str) -> list[str]:
    left = seconds[_ROWS:]
    return [
        f"   ... (remaining {len(left)} {what} account for {_percent(sum(left), total):6.2f}%"
        f"({sum(left):.2f}s) of the runtime)"
    ]


def _table(rows: list[Row], total: float, what: str) -> list[str]:
    lines, so_far = [], 0.0
    for row in rows[:_ROWS]:
        part = _percent(row.seconds, total)
        so_far += part
        lines.append(
            f"   {part:5.1f}%  {so_far:5.1f}%  {row.seconds:9.3f}s  {_each(row.seconds, row.calls)}  "
            f"{row.kind:>4}  {row.calls:6d}  {row.nodes:4d}   {row.name}"
        )
    name = "Classes" if what == "Class" else "Ops"
    return lines + _rest([row.seconds for row in rows], total, name)


def watch(function: CompiledFunction, until_exit: bool) -> None:
    """Adds a function to the defaults of summary() and trace(). With `until_exit` it also keeps the
    function alive, and prints its summary when the interpreter exits."""
    _functions.add(function)
    if until_exit:
        if not _kept:
            atexit.register(summary)
        _kept.append(function)


def _known(functions: Iterable[CompiledFunction]) -> list[CompiledFunction]:
    return list(functions) or sorted(_functions, key=lambda f: f.name)


def summary(*functions: CompiledFunction, file: Any = None) -> None:
    """Prints the tables of `functions`, by default of all live profiled functions. Functions that
    were not profiled or not called are skipped."""
    for function in _known(functions):
        if function.profile is not None and function.profile.calls:
            function.profile.summary(file)


def trace(path: Any, *functions: CompiledFunction) -> None:
    """Writes a timeline of the node runs (up to 100,000 of each function) to the file `path`, in
    Chrome's trace format for chrome://tracing or Perfetto. By default of all live profiled
    functions."""
    events: list[dict[str, Any]] = []
    for number, function in enumerate(_known(functions)):
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
