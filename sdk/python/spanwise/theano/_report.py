# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of functions in Theano's format: tables by class, op and node, and a summary of all."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable
from typing import Any

_ROWS = 20
_HEAD = "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <{} name>"
_NODE_HEAD = "<% time> <sum %> <apply time> <time per call> <#call> <id> <Apply name>"

_watched: list[Any] = []


class _Row:
    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.calls = self.nodes = 0
        self.seconds = 0.0


class Report:
    """The profile of functions, summed up if there are several."""

    def __init__(self, functions: Iterable[Any], message: str = "") -> None:
        self.functions = list(functions)
        self.profiles = [f.compiled.profile for f in self.functions]
        self.message = message or self.functions[0].name
        self.fct_callcount = sum(p.calls for p in self.profiles)
        self.fct_call_time = sum(p.call_seconds for p in self.profiles)
        self.compile_time = sum(p.compile_seconds for p in self.profiles)
        self.optimizer_time = sum(p.rewrite_seconds for p in self.profiles)
        #: (id in its function, node as Theano shows it, calls, seconds).
        self.steps = [step for f in self.functions for step in _steps_of(f)]
        self.thunk_time = sum(step[3] for step in self.steps)

    def rows(self, name: Callable[[Any], str]) -> list[_Row]:
        """The nodes grouped by `name(op)`, by descending time."""
        found: dict[str, _Row] = {}
        for _, node, calls, seconds in self.steps:
            row = found.setdefault(name(node.op), _Row(name(node.op), _kind(node.op)))
            row.calls += calls
            row.nodes += 1
            row.seconds += seconds
        return sorted(found.values(), key=lambda row: -row.seconds)

    def text(self) -> str:
        """The report as text."""
        part = f"({_percent(self.thunk_time, self.fct_call_time):.3f}%)"
        lines = [
            "Function profiling",
            "==================",
            f"  Message: {self.message}",
            f"  Time in {self.fct_callcount} calls to Function.__call__: {self.fct_call_time:e}s",
            f"  Time in Function.fn.__call__: {self.fct_call_time:e}s (100.000%)",
            f"  Time in thunks: {self.thunk_time:e}s {part}",
            f"  Total compile time: {self.compile_time:e}s",
            f"    Number of Apply nodes: {len(self.steps)}",
            f"    Theano Optimizer time: {self.optimizer_time:e}s",
            f"       Theano validate time: {0:e}s",
            "    Theano Linker time (includes C, CUDA code generation/compiling): "
            f"{self.compile_time - self.optimizer_time:e}s",
        ]
        for title, many, name in (("Class", "Classes", _class_name), ("Ops", "Ops", str)):
            lines += ["", title, "---", _HEAD.format(title if title == "Class" else "Op")]
            lines += self._table(self.rows(name), many)
        lines += ["", "Apply", "------", _NODE_HEAD, *self._nodes()]
        return "\n".join(lines) + "\n"

    def _table(self, rows: list[_Row], many: str) -> list[str]:
        lines, so_far = [], 0.0
        for row in rows[:_ROWS]:
            percent = _percent(row.seconds, self.thunk_time)
            so_far += percent
            lines.append(
                f"{percent:5.1f}%  {so_far:5.1f}%  {row.seconds:9.3f}s  {_each(row.seconds, row.calls)}  "
                f"{row.kind:>4}  {row.calls:6d}  {row.nodes:4d}   {row.name}"
            )
        return [*lines, self._remaining([row.seconds for row in rows], many)]

    def _nodes(self) -> list[str]:
        steps = sorted(self.steps, key=lambda step: -step[3])
        lines, so_far = [], 0.0
        for number, node, calls, seconds in steps[:_ROWS]:
            percent = _percent(seconds, self.thunk_time)
            so_far += percent
            lines.append(
                f"{percent:5.1f}%  {so_far:5.1f}%  {seconds:9.3f}s  {_each(seconds, calls)}  "
                f"{calls:6d}  {number:4d}   {node}"
            )
        return [*lines, self._remaining([step[3] for step in steps], "Apply instances")]

    def _remaining(self, seconds: list[float], what: str) -> str:
        left = seconds[_ROWS:]
        return (
            f"... (remaining {len(left)} {what} account for {_percent(sum(left), self.thunk_time):.2f}%"
            f"({sum(left):.2f}s) of the runtime)"
        )

    def summary(
        self, file: Any = None, n_ops_to_print: int = _ROWS, n_apply_to_print: int = _ROWS
    ) -> None:
        """Prints the report to `file`, by default stderr."""
        print(self.text(), file=file or sys.stderr)


def _steps_of(function: Any) -> list[tuple[int, Any, int, float]]:
    """The measured nodes; those of arguments and results are part of the call's time only."""
    measured = {
        node: (calls, seconds) for node, calls, seconds, _ in function.compiled.profile.nodes
    }
    order = function.maker.fgraph.toposort()
    return [
        (i, node, *measured[node.source]) for i, node in enumerate(order) if node.source in measured
    ]


def _class_name(op: Any) -> str:
    return f"{type(op).__module__}.{type(op).__qualname__}"


def _kind(op: Any) -> str:
    return "C" if getattr(op, "native", None) is not None else "Py"


def _percent(part: float, total: float) -> float:
    return 100 * part / total if total else 0.0


def _each(seconds: float, calls: int) -> str:
    return f"{seconds / calls if calls else 0.0:.2e}s"


def watch(function: Any) -> None:
    """Prints the function's report when the interpreter exits, and a summary of all such."""
    if not _watched:
        atexit.register(_print_all)
    _watched.append(function)


def _print_all() -> None:
    called = [function for function in _watched if function.compiled.profile.calls]
    for function in called:
        Report([function]).summary()
    if len(called) > 1:
        message = f"Sum of all({len(called)}) printed profiles at exit excluding Scan op profile."
        Report(called, message).summary()
