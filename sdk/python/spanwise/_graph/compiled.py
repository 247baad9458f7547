# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.function``, and the graph of a compiled function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, CompiledFunction, GraphError, SharedVariable, Variable
from .function_options import as_givens, as_in, as_mode, as_outputs, as_pairs, as_updates
from .shared import default_updates
from .test_value_scope import without_test_values

__all__ = ["FunctionGraph", "Maker", "copy_function", "function"]


class FunctionGraph:
    """The graph that a compiled function runs."""

    def __init__(self, inputs: list[Variable], outputs: list[Variable], nodes: list[Apply]) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self._nodes = nodes

    def toposort(self) -> list[Apply]:
        """The nodes in execution order."""
        return list(self._nodes)

    @property
    def apply_nodes(self) -> set[Apply]:
        return set(self._nodes)

    @property
    def variables(self) -> set[Variable]:
        variables = {*self.inputs, *self.outputs}
        for node in self._nodes:
            variables.update(node.inputs, node.outputs)
        return variables

    def __repr__(self) -> str:
        return f"FunctionGraph({', '.join(map(str, self.outputs))})"


class Maker:
    """``f.maker``: ``fgraph`` is the graph after all rewrites, ``updates`` has (shared variable,
    variable of the graph with its new value) for each update, ``rewrites`` (name, number of changed
    nodes, seconds) for each rewrite that ran."""

    def __init__(self, inputs: Any, outputs: Any, nodes: Any, updates: Any, rewrites: Any) -> None:
        self.fgraph = FunctionGraph(inputs, outputs, nodes)
        self.updates: list[tuple[Variable, Variable]] = updates
        self.rewrites: list[tuple[str, int, float]] = rewrites


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    no_default_updates: Any = False,
    *,
    profile: Any = None,
    name: str | None = None,
    on_unused_input: str | None = None,
    allow_input_downcast: bool | None = None,
    device: Any = None,
    allow_gc: bool | None = None,
    preallocate: bool = False,
) -> CompiledFunction:
    """Compiles `outputs` (a variable, an Out, a list or a dict of them) as a function of `inputs`.

    The result is called with arrays of any library, by position or by the inputs' names. `updates`
    maps shared variables to their values after each call, ``{w: w - step}``, all computed from the
    values before the call; a call that raises changes none. `givens` replaces variables of the
    graph by others. Shared variables that the function reads and `updates` does not name get their
    ``default_update``, except those in `no_default_updates`, a list, or True for all.

    `mode` is "fast_run", "fast_compile", "debug", "nan_guard" or a Mode. `profile=True` measures
    each node (see ``sw.profile``). `on_unused_input` is "raise", "warn" or "ignore".
    `allow_input_downcast=True` allows conversions of arguments that lose precision. The function
    runs on `device`, by default the default device at compile time.

    The buffers of intermediate results are kept for the next call; ``f.free()`` frees them.
    `preallocate=True` allocates them while compiling, where the types fix the shapes.
    `allow_gc=True` frees each intermediate result after its last use in a call; the default is
    ``sw.config.allow_gc``.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(
            f"function: inputs must be a list or a tuple of variables, got {inputs!r}; write [{inputs!r}]"
        )
    outs, update_pairs, given_pairs = as_outputs(outputs), as_updates(updates), as_givens(givens)
    read = [*(out.variable for out in outs[0]), *(new for _, new in given_pairs)]
    update_pairs += default_updates(read, update_pairs, no_default_updates)
    recipe = {
        "ins": [as_in(x, allow_input_downcast) for x in inputs],
        "outs": outs,
        "updates": update_pairs,
        "givens": given_pairs,
        "name": name or "",
        "on_unused_input": on_unused_input or "raise",
        "device": device,
        "mode": mode,
        "profile": profile,
        "allow_gc": allow_gc,
        "preallocate": preallocate,
    }
    return compile_recipe(recipe)


def compile_recipe(recipe: dict[str, Any]) -> CompiledFunction:
    """Compiles the normalised arguments of function(); the function keeps `recipe` for copy() and
    pickling."""
    outs, is_single, keys = recipe["outs"]
    is_configured = recipe["profile"] is None and bool(config.profile)
    is_profiled = is_configured or bool(recipe["profile"])
    with without_test_values():
        function = _core._compile(
            recipe["ins"],
            [out.variable for out in outs],
            [out.as_ for out in outs],
            [bool(out.borrow) for out in outs],
            is_single,
            keys,
            recipe["updates"],
            recipe["givens"],
            recipe["name"],
            recipe["on_unused_input"],
            recipe["device"],
            as_mode(recipe["mode"]),
            is_profiled,
            recipe["allow_gc"],
            recipe["preallocate"],
            recipe,
        )
    if is_profiled:
        from ..profile import watch

        watch(function, prints_at_exit=is_configured)
    return function


def copy_function(
    recipe: dict[str, Any],
    *,
    name: str | None = None,
    swap: Any = None,
    delete_updates: bool = False,
    mode: Any = None,
) -> CompiledFunction:
    """Implements ``f.copy(...)``: compiles `recipe` again with another name, mode, shared variables
    (`swap`), or without updates."""
    changed = dict(recipe)
    if name is not None:
        changed["name"] = name
    if mode is not None:
        changed["mode"] = mode
    if delete_updates:
        changed["updates"] = []
        changed["on_unused_input"] = "ignore"  # the inputs of the updates remain inputs
    swapped = dict(as_pairs("swap", swap))
    for old, new in swapped.items():
        if not isinstance(old, SharedVariable) or not isinstance(new, SharedVariable):
            raise GraphError(f"copy: swap exchanges shared variables, got {old!r}: {new!r}")
    changed["givens"] = changed["givens"] + list(swapped.items())
    changed["updates"] = [(swapped.get(old, old), value) for old, value in changed["updates"]]
    return compile_recipe(changed)
