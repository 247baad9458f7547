# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of functions in Theano's format: tables by class, op and node, and a summary of all."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable
from typing import Any

from spanwise.profile import Row, Tables, grouped, percent

_ROWS = 20

_watched: list[Any] = []


class _Tables(Tables):
    indent, omitted_format = "", ".2f"


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

    def rows(self, name: Callable[[Any], str]) -> list[Row]:
        """The nodes grouped by `name(op)`, by descending time."""
        steps = (
            (name(node.op), getattr(node.op, "native", None) is not None, calls, seconds)
            for _, node, calls, seconds in self.steps
        )
        return grouped((step[0], *step) for step in steps)

    def text(self) -> str:
        """The report as text."""
        part = f"({percent(self.thunk_time, self.fct_call_time):.3f}%)"
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
        steps = [(seconds, calls, i, str(node)) for i, node, calls, seconds in self.steps]
        lines += _Tables(self.thunk_time).lines(self.rows(_class_name), self.rows(str), steps)
        return "\n".join(lines) + "\n"

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
