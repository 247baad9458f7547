# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.function`` and what it takes and shows: ``In``, ``Out``, the graph of a compiled function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _core
from .._config import config
from .._core import Apply, CompiledFunction, GraphError, SharedVariable, Variable


class In:
    """An input with more to say: a name to pass it by, a default value, how strict it is.

    `borrow` and `mutable` are permissions that a function may use or not, as in Theano: `mutable` to
    overwrite the array that it is given.
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
    """An output, and as which library's array it is wanted (`as_`: "numpy", "torch", "jax", ...).

    It shares memory with the computed array where the library can hold it, else it is a copy. `borrow`
    allows the result to share memory with inputs and shared variables too.
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
        """The nodes in the order in which they run."""
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
    """What ``f.maker`` is: ``f.maker.fgraph`` is the graph that runs, ``f.maker.rewrites`` what made it so."""

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        nodes: list[Apply],
        updates: list[tuple[Variable, Variable]],
        rewrites: list[tuple[str, int, float]],
    ) -> None:
        self.fgraph = FunctionGraph(inputs, outputs, nodes)
        #: Each shared variable that a call changes, with the variable of the graph that it becomes.
        self.updates = updates
        #: Of each rewrite that ran: its name, how many nodes it changed, and the seconds it took.
        self.rewrites = rewrites


class Mode:
    """How a function is compiled: ``Mode("fast_run").excluding("inplace")``.

    The names are "fast_run" (all rewrites), "fast_compile" (those that cost little) and "debug" (as
    fast_run, and every op is checked at each call). What may be included and excluded are the names and
    tags that ``sw.graph.rewrites()`` lists.
    """

    def __init__(
        self, name: str = "", including: Iterable[str] = (), excluding: Iterable[str] = ()
    ) -> None:
        self.name = name
        self._including = tuple(including)
        self._excluding = tuple(excluding)

    def including(self, *words: str) -> Mode:
        """The mode with more rewrites."""
        return Mode(self.name, self._including + words, self._excluding)

    def excluding(self, *words: str) -> Mode:
        """The mode without some rewrites."""
        return Mode(self.name, self._including, self._excluding + words)

    def __repr__(self) -> str:
        return f"Mode({self.name!r}, including={self._including}, excluding={self._excluding})"


def rewrites() -> list[tuple[str, float, list[str]]]:
    """The rewrites in the order in which they run: name, position and tags."""
    return _core._rewrites()


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
    """The outputs as a list, whether there is just one, and their keys."""
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
    """A dict or a list of pairs; the second of each may be a value."""
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
    """Numbers and lists become what the shared variable's dtype makes of them."""
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

    The result is called with values of any library, by position or by the inputs' names. `updates` says
    what shared variables become after each call, ``{w: w - step}``, computed from the values before it;
    after an error they are as before. `givens` replaces variables of the graph by others; `mode` is
    "fast_run", "fast_compile", "debug" or a Mode; `profile=True` measures each node (see
    ``sw.profile``); `on_unused_input` is "raise", "warn" or "ignore";
    `allow_input_downcast=True` lets inputs lose precision. It runs on `device`, by default the default
    device at this moment.

    Results between nodes keep their memory for the next call (`f.free()` gives it back);
    `preallocate=True` allocates it at once where types fix the shape. `allow_gc=True` lets go of each
    result as soon as a call needs it no more; by default ``sw.config.allow_gc`` decides.
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
    """What function() makes of its arguments once it has read them; what a function keeps of them."""
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
    """What ``f.copy(...)`` does."""
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
