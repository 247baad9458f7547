# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.function``, its arguments (``In``, ``Out``, ``Mode``), and the graph of a compiled
function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, CompiledFunction, GraphError, SharedVariable, Variable


class In:
    """An input of a function: a variable with a keyword name, a default `value`, and how arguments
    are converted.

    `strict` accepts only arguments that need no conversion; `allow_downcast` allows a conversion
    that loses precision. `borrow` and `mutable` are permissions, as in Theano: `mutable` allows the
    function to overwrite the argument's memory. Raises ValueError for mutable=True with
    borrow=False.
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        *,
        mutable: bool = False,
        borrow: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
    ) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(f"In: expected a Variable, got {variable!r}")
        self.variable = variable
        self.name = name if name is not None else variable.name
        self.value = value
        if mutable and borrow is False:
            raise ValueError(
                f"In({variable}): mutable=True needs borrow: what may be overwritten is not a copy"
            )
        self.mutable = mutable
        self.borrow = mutable if borrow is None else borrow
        self.strict = strict
        self.allow_downcast = allow_downcast

    def __repr__(self) -> str:
        return f"In({self.variable})"


class Out:
    """An output of a function, returned as an array of the library `as_` ("numpy", "torch", "jax",
    ...), or as a spanwise.Array for None.

    The library's array shares memory with the computed array if the library can represent it, else
    it is a copy. `borrow` allows the result to share memory with inputs and shared variables as
    well.
    """

    def __init__(self, variable: Any, borrow: bool = False, as_: str | None = None) -> None:
        self.variable = _core._as_variable(variable)
        self.borrow = borrow
        self.as_ = as_

    def __repr__(self) -> str:
        return f"Out({self.variable})"


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
        found = {*self.inputs, *self.outputs}
        for node in self._nodes:
            found.update(node.inputs, node.outputs)
        return found

    def __repr__(self) -> str:
        return f"FunctionGraph({', '.join(map(str, self.outputs))})"


class Maker:
    """``f.maker``: ``fgraph`` is the graph after all rewrites, ``rewrites`` the rewrites that
    ran."""

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        nodes: list[Apply],
        updates: list[tuple[Variable, Variable]],
        rewrites: list[tuple[str, int, float]],
    ) -> None:
        self.fgraph = FunctionGraph(inputs, outputs, nodes)
        #: (shared variable, variable of the graph with its new value) for each update.
        self.updates = updates
        #: (name, number of changed nodes, seconds) for each rewrite that ran.
        self.rewrites = rewrites


class Mode:
    """The rewrites and checks of a function: ``Mode("fast_run").excluding("inplace")``.

    The names are "fast_run" (all rewrites), "fast_compile" (cheap rewrites only) and "debug" (as
    fast_run, with checks of every op at each call). including() and excluding() take the names and
    tags of rewrites that ``sw.graph.rewrites()`` lists.
    """

    def __init__(
        self, name: str = "", including: Iterable[str] = (), excluding: Iterable[str] = ()
    ) -> None:
        self.name = name
        self._including = tuple(including)
        self._excluding = tuple(excluding)

    def including(self, *words: str) -> Mode:
        """A new mode that also runs these rewrites (names or tags)."""
        return Mode(self.name, self._including + words, self._excluding)

    def excluding(self, *words: str) -> Mode:
        """A new mode without these rewrites (names or tags)."""
        return Mode(self.name, self._including, self._excluding + words)

    def __repr__(self) -> str:
        return f"Mode({self.name!r}, including={self._including}, excluding={self._excluding})"


def _as_mode(mode: Any) -> tuple[str, list[str], list[str]]:
    if mode is None:
        mode = Mode()
    elif isinstance(mode, str):
        mode = Mode(mode)
    elif not isinstance(mode, Mode):
        raise TypeError(f"function: mode must be a name or a Mode, got {mode!r}")
    return mode.name, list(mode._including), list(mode._excluding)


def _as_in(given: Any, allow_downcast: bool | None) -> In:
    spec = given if isinstance(given, In) else In(given)
    if spec.allow_downcast is None and allow_downcast is not None:
        spec = In(
            spec.variable,
            spec.name,
            spec.value,
            mutable=spec.mutable,
            borrow=spec.borrow,
            strict=spec.strict,
            allow_downcast=allow_downcast,
        )
    return spec


def _outputs(outputs: Any) -> tuple[list[Out], bool, list[str] | None]:
    """(outputs, whether `outputs` was a single one, keys of a dict or None)."""
    if outputs is None:
        return [], False, None
    if isinstance(outputs, Mapping):
        if not all(isinstance(key, str) for key in outputs):
            raise TypeError("function: the keys of a dict of outputs must be strings")
        keys = list(outputs)
        return [_as_out(outputs[key]) for key in keys], False, keys
    if isinstance(outputs, (list, tuple)):
        return [_as_out(output) for output in outputs], False, None
    return [_as_out(outputs)], True, None


def _as_out(output: Any) -> Out:
    return output if isinstance(output, Out) else Out(output)


def _pairs(what: str, pairs: Any) -> list[tuple[Variable, Variable]]:
    """A dict or a list of pairs as a list of pairs. The first of each must be a Variable; the
    second may be any value."""
    if not pairs:
        return []
    if isinstance(pairs, Mapping):
        pairs = pairs.items()
    result = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"function: {what} must be a dict or a list of pairs, got {pair!r} in it"
            )
        old, new = pair
        if not isinstance(old, Variable):
            raise GraphError(f"function: {what} names {old!r}, which is no variable")
        result.append((old, new))
    return result


def _givens(givens: Any) -> list[tuple[Variable, Variable]]:
    return [(old, _core._as_variable(new)) for old, new in _pairs("givens", givens)]


def _updates(updates: Any) -> list[tuple[Variable, Variable]]:
    """The pairs of `updates`. Numbers and lists are cast to the dtype of the shared variable."""
    made = []
    for old, new in _pairs("updates", updates):
        if isinstance(new, (bool, int, float, complex, list)) and isinstance(old, SharedVariable):
            new = _core.array(new, dtype=old.dtype)
        made.append((old, _core._as_variable(new)))
    return made


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
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
    graph by others. `mode` is "fast_run", "fast_compile", "debug" or a Mode. `profile=True`
    measures each node (see ``sw.profile``). `on_unused_input` is "raise", "warn" or "ignore".
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
    recipe = {
        "ins": [_as_in(given, allow_input_downcast) for given in inputs],
        "outs": _outputs(outputs),
        "updates": _updates(updates),
        "givens": _givens(givens),
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
    outs, single, keys = recipe["outs"]
    by_setting = recipe["profile"] is None and bool(config.profile)
    is_profiled = by_setting or bool(recipe["profile"])
    function = _core._compile(
        recipe["ins"],
        [out.variable for out in outs],
        [out.as_ for out in outs],
        [bool(out.borrow) for out in outs],
        single,
        keys,
        recipe["updates"],
        recipe["givens"],
        recipe["name"],
        recipe["on_unused_input"],
        recipe["device"],
        _as_mode(recipe["mode"]),
        is_profiled,
        recipe["allow_gc"],
        recipe["preallocate"],
        recipe,
    )
    if is_profiled:
        from ..profile import watch

        watch(function, until_exit=by_setting)
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
    swapped = dict(_pairs("swap", swap))
    for old, new in swapped.items():
        if not isinstance(old, SharedVariable) or not isinstance(new, SharedVariable):
            raise GraphError(f"copy: swap exchanges shared variables, got {old!r}: {new!r}")
    changed["givens"] = changed["givens"] + list(swapped.items())
    changed["updates"] = [(swapped.get(old, old), value) for old, value in changed["updates"]]
    return compile_recipe(changed)
