# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a symbolic expression: each is one NumPy call, or an array."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .._core import Variable

_LIBRARIES = ("spanwise", "numpy")  # their frames are not the place where an operation is written


@dataclass(slots=True, eq=False)
class Node:
    """``function(*args, **kwargs)`` with nodes instead of arrays, also inside tuples, lists
    and slices. The type of `variable`, the same operation in a graph, holds dtype and shape."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    variable: Variable
    place: str  #: "file:line" of the statement that made it
    name: str | None = None  #: in generated programs
    #: Generated functions and their programs, by target or device.
    prepared: dict[str, tuple[Callable[..., Any], Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.type.shape  # type: ignore[return-value]  # record() checks it

    @property
    def dtype(self) -> str:
        return self.variable.dtype.name


@dataclass(slots=True, eq=False)
class Leaf(Node):
    """An array of any library, read when an expression is evaluated."""

    value: Any = None
    is_cast: bool = False  #: whether it is cast to `dtype` at each evaluation


class Symbolic:
    """The base class of SymArray, by which modules that SymArray imports recognize it."""

    __slots__ = ("_node",)
    _node: Node


def map_nested(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with `change` applied to everything that is not a tuple, list, dict or slice."""
    if isinstance(value, tuple | list):
        return type(value)([map_nested(x, change) for x in value])
    if isinstance(value, dict):
        return {key: map_nested(x, change) for key, x in value.items()}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(map_nested(x, change) for x in parts))
    return change(value)


def operands(node: Node) -> list[Node]:
    """The nodes among the arguments of `node`."""
    arguments: list[Any] = []
    map_nested((node.args, node.kwargs), arguments.append)
    return [x for x in arguments if isinstance(x, Node)]


def place_of_caller() -> str:
    """ "file:line" of the innermost frame outside Spanwise and NumPy."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _LIBRARIES:
            break
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
