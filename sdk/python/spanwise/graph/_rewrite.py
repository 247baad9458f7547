# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of graphs in Python, as Theano's local optimizers (theano/gof/opt.py)."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import _core
from .._config import config
from .._core import Apply, ArgumentError, GraphError, Variable

__all__ = ["remove_rewrite", "rewrite", "rewrites"]


_Function = TypeVar("_Function", bound=Callable[[Apply], Any])
_registered: set[str] = set()  # names of rewrites in Python


def rewrites() -> list[tuple[str, float, list[str]]]:
    """(name, position, tags) of all rewrites, in the order in which they run."""
    return _core._rewrites()


def rewrite(
    name: str, position: float = 15.0, *, tags: Sequence[str] = ("fast_run",)
) -> Callable[[_Function], _Function]:
    """Registers the decorated function as a rewrite of the graphs of all functions that are compiled
    from now on.

    It is called with each node, an `Apply` whose inputs have been rewritten already, and returns
    None where the node stays, or what replaces its outputs: a variable, or a list with one for each
    output, of the same dtype and rank. It must not change the node. A replacement is rewritten
    again until nothing changes, but not the nodes before it, among which may be the node itself:
    ``node.out + 1`` adds 1 once.

    Rewrites run in the order of `position`: "stable_functions" at 5, "merge" at 10,
    "fold_constants" at 20, "inplace" at 80. `tags` selects the modes, "fast_run" and
    "fast_compile"; a tag "stabilize" applies the rewrite to a cost before `grad` differentiates it,
    too. A second registration of a name replaces the first; ArgumentError for the name of a
    rewrite of Spanwise. ``remove_rewrite(name)`` removes it. With ``config.on_opt_error = "warn"`` or "ignore" a
    node for which the function fails stays; otherwise the error is raised.
    """

    def register(function: _Function) -> _Function:
        if not isinstance(position, numbers.Real):
            raise TypeError(f"rewrite {name}: expected position as a number, got {position!r}")

        def apply(node: Apply) -> list[Variable]:
            return _replacements(name, node, function)

        if name in _registered:
            remove_rewrite(name)
        if not _core._register_rewrite(name, position, list(tags), apply):
            raise ArgumentError(f"rewrite: the name {name!r} is taken; expected another name")
        _registered.add(name)
        return function

    return register


def remove_rewrite(name: str) -> None:
    """Removes a rewrite that was registered by rewrite(). Raises ArgumentError for another name."""
    if name not in _registered:
        known = ", ".join(sorted(_registered)) or "there is none"
        raise ArgumentError(
            f"remove_rewrite: expected a name that was registered by rewrite() ({known}), got {name!r}"
        )
    _registered.discard(name)
    _core._remove_rewrite(name)


def _replacements(name: str, node: Apply, function: Callable[[Apply], Any]) -> list[Variable]:
    """The variables by which `function` replaces the outputs of `node`; empty if the node stays."""
    try:
        result = function(node)
    except Exception as error:
        if config.on_opt_error == "raise":
            raise
        if config.on_opt_error == "warn":
            warnings.warn(
                f"rewrite {name}: {type(error).__name__}: {error}; the node {node} stays (config "
                "on_opt_error)",
                stacklevel=2,
            )
        return []
    if result is None or result is False:
        return []
    listed = list(result) if isinstance(result, (list, tuple)) else [result]
    if not listed or not all(isinstance(value, Variable) for value in listed):
        raise GraphError(
            f"rewrite {name}: expected None, a variable or a list with a variable for each output of "
            f"{node}, got {result!r}"
        )
    return listed
