# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of variables that Theano has and Spanwise lacks, and arguments of reductions that differ."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable, recipe_of

from .tensor import basic

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_REDUCTIONS = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")
_FUNCTIONS = {
    **dict.fromkeys(("sqrt", "trunc", "ones_like", "zeros_like"), T),
    **dict.fromkeys(("diagonal", "ptp", "repeat", "argsort", "sort"), T),
    **dict.fromkeys(("fill", "nonzero", "nonzero_values", "norm", "choose"), basic),
}


def _is_true(self: Variable) -> bool:
    name = recipe_of(self.owner.op)[0] if self.owner is not None else None
    if name in _COMPARISONS:
        raise TypeError(
            f"{self} is a comparison, which has no value before the function runs: use T.switch, ifelse, "
            "or T.and_ and T.or_"
        )
    return True


def _reduction(method: Callable[..., Any]) -> Callable[..., Any]:
    """`method` with Theano's arguments: a list of axes, and the dtype of the accumulator, which is
    Spanwise's choice."""

    @functools.wraps(method)
    def reduced(self: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        options.pop("acc_dtype", None)
        return method(self, tuple(axis) if isinstance(axis, list) else axis, *args, **options)

    return reduced


def _round(self: Variable, mode: str | None = None) -> Variable:
    """The nearest integers: halves to even ones, or away from 0 for "half_away_from_zero"."""
    if mode == "half_away_from_zero":
        return T.sgn(self) * T.floor(abs(self) + 0.5)
    return T.round(self)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as a method: ufuncs are none by themselves."""

    @functools.wraps(function)
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    return method


def add_methods() -> None:
    """Adds them to the class Variable."""
    for name, module in _FUNCTIONS.items():
        setattr(Variable, name, _method(getattr(module, name)))
    for name in _REDUCTIONS:
        setattr(Variable, name, _reduction(getattr(Variable, name)))
    Variable.round = _round
    Variable.real, Variable.imag = property(basic.real), property(basic.imag)
    Variable.copy = basic.tensor_copy  # type: ignore[attr-defined]
    Variable.__bool__ = _is_true
    for name in ("rng", "update"):  # of random variables
        setattr(Variable, name, property(lambda self, name=name: getattr(self.tag, name)))
