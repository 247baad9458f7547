# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of function(): In, Out, Mode, givens and updates."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from .._core import GraphError, Variable
from .shared import as_update
from .traversal import as_list

__all__ = ["In", "Mode", "NanGuardMode", "Out"]


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


def as_in(x: Any, allow_downcast: bool | None) -> In:
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


def as_pairs(argument: str, pairs: Any) -> list[tuple[Variable, Variable]]:
    """A dict or a list of pairs, passed as `argument`, as a list of pairs. The first of each must be a
    Variable; the second may be any value."""
    if not pairs:
        return []
    if isinstance(pairs, Mapping):
        pairs = pairs.items()
    result = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"function: {argument} must be a dict or a list of pairs, got {pair!r} in it"
            )
        old, new = pair
        if not isinstance(old, Variable):
            raise GraphError(f"function: {argument} names {old!r}, which is no variable")
        result.append((old, new))
    return result


def as_givens(givens: Any) -> list[tuple[Variable, Variable]]:
    return [(old, _core._as_variable(new)) for old, new in as_pairs("givens", givens)]


def as_updates(updates: Any) -> list[tuple[Variable, Variable]]:
    """The pairs of `updates`. Numbers and lists are cast to the dtype of the shared variable."""
    return [(old, as_update(old, new)) for old, new in as_pairs("updates", updates)]
