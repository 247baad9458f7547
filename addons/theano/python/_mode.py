# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Theano's modes: names of sets of rewrites."""

from __future__ import annotations

from typing import Any

import spanwise as sw

from ._config import config

_MODES = {
    "Mode": "fast_run",
    "FAST_RUN": "fast_run",
    "FAST_COMPILE": "fast_compile",
    "DebugMode": "debug",
    "DEBUG_MODE": "debug",
    "NanGuardMode": "nan_guard",
    "ProfileMode": "fast_run",
}


class Mode(sw.graph.Mode):
    """``Mode(linker=, optimizer=)``: `linker` is accepted for compatibility, `optimizer` is
    "fast_run", "fast_compile" or None. Tags that only Theano's rewrites have are ignored by
    including() and excluding()."""

    def __init__(self, linker: Any = None, optimizer: Any = "default") -> None:
        is_fast = optimizer in ("fast_compile", None, "None")
        super().__init__("fast_compile" if is_fast else "fast_run")

    def including(self, *tags: str) -> sw.graph.Mode:
        return super().including(*_known(tags))

    def excluding(self, *tags: str) -> sw.graph.Mode:
        return super().excluding(*_known(tags))


def _known(tags: tuple[str, ...]) -> list[str]:
    """Those of `tags` that are names or tags of Spanwise's rewrites."""
    known = {word for name, _, own_tags in sw.graph.rewrites() for word in (name, *own_tags)}
    return [tag for tag in tags if tag in known]


def as_mode(mode: Any) -> Any:
    """Theano's name of a mode, or a Mode, as a Mode. ValueError for an unknown name."""
    mode = config.mode if mode is None else mode
    if mode == "Mode" and config.optimizer in ("fast_compile", "None"):
        mode = "FAST_COMPILE"
    if not isinstance(mode, str):
        return mode
    if mode not in _MODES:
        raise ValueError(f"theano: expected a mode of {', '.join(_MODES)}, got {mode!r}")
    result = Mode()
    result.name = _MODES[mode]
    return result
