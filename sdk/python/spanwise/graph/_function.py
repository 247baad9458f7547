# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: ``sw.function`` and its arguments (In, Out, Mode, givens, updates), shared
variables, and what else is computed by small functions: single ops on arrays, and test values."""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from .. import _core
from .._config import config
from .._core import (
    Apply,
    Array,
    CompiledFunction,
    Constant,
    GraphError,
    SharedVariable,
    TensorType,
    Variable,
)
from . import _op
from ._op import Op, apply_registered
from ._states import (
    default_update_of as default_update_of,
    set_default_update as keep_default_update,
    with_default_updates,
)
from ._traversal import as_list, as_pairs

__all__ = [
    "FunctionGraph", "In", "Maker", "Mode", "NanGuardMode", "Out", "copy_function", "function",
    "shared", "using",
]  # fmt: skip


# ---- Shared variables ----


def shared(
    value: Any, name: str | None = None, *, borrow: bool = False, target: Any = None
) -> SharedVariable:
    """A variable with a value, which functions read at each call and change by `updates`.

    `value` is an array of any library, a number or nested lists; it is copied unless `borrow`
    allows sharing its memory. The variable is on `target` (a device or a name of ``using``), by
    default on the default device, for integers of rank 0 on the host.
    """
    return _core._shared(value, name, borrow, target)


_has_updates: list[bool] = []  # empty until a first variable has one: graphs are not searched then


def set_default_update(x: SharedVariable, update: Any) -> None:
    """``x.default_update = update``. Raises GraphError for a variable of another dtype or rank."""
    if update is not None:
        update = checked_update("default_update", x, update)
        _has_updates.append(True)
    keep_default_update(x, update)


def checked_update(what: str, x: SharedVariable, update: Any) -> Variable:
    """`update` as a variable. Raises GraphError for one of another dtype or rank than `x`, and where `x`
    is no shared variable."""
    if not isinstance(x, SharedVariable):
        raise GraphError(f"{what}: expected a shared variable, got {x!r}")
    new = as_update(x, update)
    if new.dtype != x.dtype or new.ndim != x.ndim:
        raise GraphError(
            f"{what} of {x}: expected a variable of {x.dtype} and rank {x.ndim}, got {new} of "
            f"{new.type}; cast it"
        )
    return new


def as_update(old: Variable, new: Any) -> Variable:
    """`new` as a variable; numbers and lists are cast to the dtype of the shared variable `old`."""
    if isinstance(new, (bool, int, float, complex, list)) and isinstance(old, SharedVariable):
        new = _core.array(new, dtype=old.dtype)
    return _core._as_variable(new)


@contextmanager
def using(contexts: str) -> Iterator[None]:
    """Context manager that names devices: ``with sw.using("dev0->cuda:0;dev1->cuda:1"):``.

    A name is accepted wherever a device is. Names of enclosing blocks stay valid; the environment
    variable ``SPANWISE_CONTEXTS`` (the setting ``contexts``) names devices for the whole process.
    """
    outside = config.contexts
    with config.change(contexts=f"{outside};{contexts}" if outside else contexts):
        yield


# ---- Arguments of function() ----


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
                f"In({variable}): expected borrow=True or none with mutable=True, which allows the "
                "function to overwrite the argument itself, got borrow=False"
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


class Mode:
    """The rewrites and checks of a function: ``Mode("fast_run").excluding("inplace")``.

    The names are "fast_run" (all rewrites), "fast_compile" (cheap rewrites only), "debug" (as
    fast_run, with checks of every op at each call) and "nan_guard" (see NanGuardMode). including()
    and excluding() take the names and tags of rewrites that ``sw.graph.rewrites()`` lists.
    """

    #: Whether NaN, infinity and large numbers are errors in mode "nan_guard".
    _guards = (True, True, True)

    def __init__(
        self, name: str = "", including: Iterable[str] = (), excluding: Iterable[str] = ()
    ) -> None:
        self.name = name
        self._including = tuple(including)
        self._excluding = tuple(excluding)

    def including(self, *rewrites: str) -> Mode:
        """A new mode that also runs these rewrites (names or tags)."""
        return self._with(self._including + rewrites, self._excluding)

    def excluding(self, *rewrites: str) -> Mode:
        """A new mode without these rewrites (names or tags)."""
        return self._with(self._including, self._excluding + rewrites)

    def _with(self, including: tuple[str, ...], excluding: tuple[str, ...]) -> Mode:
        mode = copy.copy(self)
        mode._including, mode._excluding = including, excluding
        return mode

    def __repr__(self) -> str:
        return f"Mode({self.name!r}, including={self._including}, excluding={self._excluding})"


class NanGuardMode(Mode):
    """A mode in which a call raises GraphError at the first node whose output has a NaN, an infinite
    number or a magnitude above 1e10, whichever of these the arguments select; also for inputs of the
    function.

    The error names the node, the lines that made it, and the ranges of its inputs. Nodes are not
    fused and do not work in place. A call waits for each node. ``mode="nan_guard"`` is the same with
    all three.
    """

    def __init__(
        self,
        nan_is_error: bool = True,
        inf_is_error: bool = True,
        big_is_error: bool = True,
        including: Iterable[str] = (),
        excluding: Iterable[str] = (),
    ) -> None:
        super().__init__("nan_guard", including, excluding)
        self._guards = bool(nan_is_error), bool(inf_is_error), bool(big_is_error)

    def __repr__(self) -> str:
        nan, inf, big = self._guards
        return f"NanGuardMode(nan_is_error={nan}, inf_is_error={inf}, big_is_error={big})"


def as_mode(mode: Any) -> tuple[str, list[str], list[str], list[bool]]:
    """(name, included rewrites, excluded rewrites, guards of "nan_guard") of a Mode or its name; None
    is the default mode."""
    if mode is None:
        mode = Mode()
    elif isinstance(mode, str):
        mode = Mode(mode)
    elif not isinstance(mode, Mode):
        raise TypeError(f"function: mode must be a name or a Mode, got {mode!r}")
    return mode.name, list(mode._including), list(mode._excluding), list(mode._guards)


def as_input(x: Any, allow_downcast: bool | None) -> In:
    """`x`, a Variable or an In, as an In; `allow_downcast` applies where the In does not say it."""
    spec = x if isinstance(x, In) else In(x)
    if spec.allow_downcast is None and allow_downcast is not None:
        spec = copy.copy(spec)
        spec.allow_downcast = allow_downcast
    return spec


def as_outputs(outputs: Any) -> tuple[list[Out], bool, list[str] | None]:
    """(outputs, whether `outputs` was a single one, keys of a dict or None)."""
    keys = None
    if isinstance(outputs, Mapping):
        if not all(isinstance(key, str) for key in outputs):
            raise TypeError("function: the keys of a dict of outputs must be strings")
        keys, outputs = list(outputs), list(outputs.values())
    listed = [] if outputs is None else as_list(outputs)
    is_single = outputs is not None and not isinstance(outputs, (list, tuple))
    return [x if isinstance(x, Out) else Out(x) for x in listed], is_single, keys


def as_givens(givens: Any) -> list[tuple[Variable, Variable]]:
    return [(old, _core._as_variable(new)) for old, new in as_pairs("function", "givens", givens)]


def as_updates(updates: Any) -> list[tuple[Variable, Variable]]:
    """The pairs of `updates`. Numbers and lists are cast to the dtype of the shared variable."""
    return [(old, as_update(old, new)) for old, new in as_pairs("function", "updates", updates)]


# ---- Compiled functions ----


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
        remedy = f"; write [{inputs!r}]" if isinstance(inputs, (Variable, In)) else ""
        raise TypeError(
            f"function: inputs must be a list or a tuple of variables, got {inputs!r}{remedy}"
        )
    if not isinstance(name, str | None):
        raise TypeError(f"function: name: expected a str, got {name!r}")
    outs, update_pairs, given_pairs = as_outputs(outputs), as_updates(updates), as_givens(givens)
    ins = [as_input(x, allow_input_downcast) for x in inputs]
    if _has_updates:
        read = [*(out.variable for out in outs[0]), *(new for _, new in given_pairs)]
        boundary = [*(spec.variable for spec in ins), *(old for old, _ in given_pairs)]
        with without_test_values():
            copies, update_pairs = with_default_updates(
                read, boundary, update_pairs, no_default_updates
            )
        outs = [_out_of(copies, out) for out in outs[0]], *outs[1:]
        given_pairs = [(x, copies.get(y, y)) for x, y in given_pairs]
    recipe = {
        "ins": ins,
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


def _out_of(copies: Mapping[Variable, Variable], out: Out) -> Out:
    """`out` for the copy of its variable, if there is one."""
    if out.variable not in copies:
        return out
    copied = copy.copy(out)
    copied.variable = copies[out.variable]
    return copied


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
    swapped = dict(as_pairs("copy", "swap", swap))
    for old, new in swapped.items():
        if not isinstance(old, SharedVariable) or not isinstance(new, SharedVariable):
            raise GraphError(f"copy: swap exchanges shared variables, got {old!r}: {new!r}")
    changed["givens"] = changed["givens"] + list(swapped.items())
    changed["updates"] = [(swapped.get(old, old), value) for old, value in changed["updates"]]
    return compile_recipe(changed)


# ---- Single ops on arrays, by a cached function of the op ----


def compute_op(op: str | Op, inputs: Sequence[Any], properties: Mapping[str, Any]) -> Any:
    """The outputs of an op on arrays: an Array, or a list of them. `op` is the name of a registered op
    with these properties, or an op, which has none.

    Runs on the device of the first array on a GPU, else of the first array. Results never share
    memory with the inputs, and inputs are not modified, also for ops with a view map or a destroy
    map.
    """
    arrays = [x if isinstance(x, Array) else _as_array(x) for x in inputs]
    key = _hashable(properties) if properties else ()
    return _function_of(op, key, _types_of(arrays), _device_of(arrays))(*arrays)


def _types_of(arrays: Sequence[Array]) -> tuple[tuple[str, int], ...]:
    return tuple([(str(a.dtype), a.ndim) for a in arrays])


def _device_of(arrays: Sequence[Array]) -> Any:
    first = arrays[0].device
    for a in arrays:
        if a.device is not first:
            return next((a.device for a in arrays if a.device.kind == "cuda"), first)
    return first


def _as_array(x: Any) -> Array:
    """`x` as an Array: numbers and lists with the dtype of a graph constant, arrays without a
    copy."""
    if isinstance(x, (bool, int, float, complex, list, tuple)):
        return _core._as_variable(x).data  # type: ignore[attr-defined]
    return _core._asarray(x)


def _hashable(properties: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    # With the type's name, since 1, 1.0 and True are equal keys but different property values.
    return tuple(
        (name, type(value).__name__, tuple(value) if isinstance(value, list) else value)
        for name, value in sorted(properties.items())
    )


_op.compute_on_arrays = compute_op


@lru_cache(maxsize=512)
def _function_of(
    op: str | Op,
    properties: tuple[tuple[str, str, Any], ...],
    types: tuple[tuple[str, int], ...],
    device: Any,
) -> Any:
    variables = [TensorType(dtype, (None,) * ndim)() for dtype, ndim in types]
    values = {name: list(v) if kind == "list" else v for name, kind, v in properties}
    with without_test_values():
        is_name = isinstance(op, str)
        outputs = apply_registered(op, *variables, **values) if is_name else op(*variables)
    return function(variables, outputs, name=str(op), device=device)


# ---- Test values: config.compute_test_value and x.tag.test_value (theano/gof/op.py) ----

_state = threading.local()


class without_test_values:  # noqa: N801  (a context manager; contextlib's are slower)
    """Context manager: nodes that this thread makes get no test values, as while a function is compiled
    and while a test value is computed."""

    def __enter__(self) -> None:
        _state.depth = getattr(_state, "depth", 0) + 1

    def __exit__(self, *error: object) -> None:
        _state.depth -= 1


_MISSING = object()


def observe(node: Apply) -> None:
    """Computes the outputs of a new node from the test values of its inputs, and stores them as the test
    values of the outputs.

    The extension module calls it while config.compute_test_value is not "off". Raises what the node
    raises for these values; for an input without a test value GraphError, or with "warn" a
    warning, or with "ignore" nothing.
    """
    if getattr(_state, "depth", 0) > 0:  # inside without_test_values
        return
    values = {x: _value_of(x) for x in node.inputs if not isinstance(x, Constant)}
    for x, value in values.items():
        if value is _MISSING:
            _report_missing(x, node)
            return
    with without_test_values():
        substitutes = {x: x.type(x.name) for x in values}
        copied = node.clone_with_new_inputs([substitutes.get(x, x) for x in node.inputs])
        compute = function(
            list(substitutes.values()),
            copied.outputs,
            mode="fast_compile",
            name=f"for the test value of {node}",
            on_unused_input="ignore",
            profile=False,
        )
        for output, value in zip(node.outputs, compute(*values.values()), strict=True):
            output.tag.test_value = value


def _value_of(x: Variable) -> Any:
    if isinstance(x, SharedVariable):
        return x.get_value(borrow=True)
    return getattr(x.tag, "test_value", _MISSING)


def _report_missing(x: Variable, node: Apply) -> None:
    message = (
        f"compute_test_value: {x} of {x.type}, an input of {node}, has no test value; set "
        'its tag.test_value to an array, or config.compute_test_value to "ignore"'
    )
    if config.compute_test_value == "raise":
        raise GraphError(message)
    if config.compute_test_value == "warn":
        warnings.warn(message, stacklevel=3)
