# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of variables: ``tensor``, and ``fmatrix``, ``ivectors`` and the others by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._config import config
from .._core import TensorType, Variable

_DTYPES = {
    "": None,  # floatX
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
_SHAPES: dict[str, tuple[int | None, ...]] = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    "tensor3": (None,) * 3,
    "tensor4": (None,) * 4,
    "tensor5": (None,) * 5,
}


def tensor(
    dtype: Any,
    shape: Sequence[int | None] = (),
    name: str | None = None,
    device: Any = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> Variable:
    """A variable. An extent of None in `shape` is not fixed. `broadcastable` is Theano's form of
    the shape: True is extent 1, False is None; it replaces `shape`."""
    return TensorType(dtype, shape if broadcastable is None else broadcastable, device)(name)


def _constructor(
    kind: str, shape: tuple[int | None, ...], default: str | None
) -> Callable[..., Variable]:
    def make(name: str | None = None, dtype: Any = None) -> Variable:
        return TensorType(dtype or default or config.floatX, shape)(name)

    make.__name__ = make.__qualname__ = kind
    make.__doc__ = f"A {kind} of dtype {default or 'sw.config.floatX'}, or of `dtype`."
    return make


def _plural(kind: str) -> str:
    return kind[:-2] + "ices" if kind.endswith("ix") else kind + "s"


def _several(kind: str, make: Callable[..., Variable]) -> Callable[..., list[Variable]]:
    def make_several(*names: Any, dtype: Any = None) -> list[Variable]:
        if len(names) == 1 and isinstance(names[0], int):
            return [make(None, dtype) for _ in range(names[0])]
        if len(names) == 1 and isinstance(names[0], (str, list, tuple)):
            names = tuple(names[0])  # a string is one-letter names, as in Theano
        return [make(name, dtype) for name in names]

    make_several.__name__ = make_several.__qualname__ = _plural(kind)
    make_several.__doc__ = f"One {kind} for each name, for each letter of a single string, or as many as the integer says."
    return make_several


def named_constructors() -> dict[str, Callable[..., Any]]:
    """ "fmatrix", "fmatrices" and all others."""
    made: dict[str, Callable[..., Any]] = {}
    for letter, dtype in _DTYPES.items():
        for shape_name, shape in _SHAPES.items():
            kind = letter + shape_name
            make = _constructor(kind, shape, dtype)
            made[kind] = make
            made[_plural(kind)] = _several(kind, make)
    return made
