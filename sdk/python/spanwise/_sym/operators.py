# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators and methods of NumPy's array that record the function of the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .record import record
from .tree import Node, Symbolic


def _forward(name: str) -> Callable[..., Any]:
    def call(self: Operators, *args: Any, **kwargs: Any) -> Any:
        return self.wrap(record(name, self, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name}(self, ...), recorded."
    return call


def _reflected(name: str) -> Callable[..., Any]:
    def call(self: Operators, other: Any) -> Any:
        return self.wrap(record(name, other, self))

    return call


class Operators(Symbolic):
    """The base of SymArray with its operators; `wrap` makes a SymArray of a node."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == is elementwise

    @classmethod
    def wrap(cls, node: Node) -> Any:
        made = cls.__new__(cls)
        made._node = node
        return made

    __add__, __radd__ = _forward("add"), _reflected("add")
    __sub__, __rsub__ = _forward("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _forward("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _forward("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _forward("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _forward("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _forward("power"), _reflected("power")
    __matmul__, __rmatmul__ = _forward("matmul"), _reflected("matmul")
    __and__, __rand__ = _forward("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _forward("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _forward("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _forward("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _forward("right_shift"), _reflected("right_shift")
    __lt__, __le__ = _forward("less"), _forward("less_equal")
    __gt__, __ge__ = _forward("greater"), _forward("greater_equal")
    __eq__, __ne__ = _forward("equal"), _forward("not_equal")
    __neg__, __pos__ = _forward("negative"), _forward("positive")
    __invert__, __abs__ = _forward("invert"), _forward("absolute")

    sum, prod, cumsum, cumprod = map(_forward, ("sum", "prod", "cumsum", "cumprod"))
    min, max, argmin, argmax = map(_forward, ("min", "max", "argmin", "argmax"))
    mean, var, std = map(_forward, ("mean", "var", "std"))
    any, all = map(_forward, ("any", "all"))
    dot, take, clip, round = map(_forward, ("dot", "take", "clip", "round"))
    astype, conj, ravel = map(_forward, ("astype", "conj", "ravel"))
    swapaxes, squeeze = map(_forward, ("swapaxes", "squeeze"))
