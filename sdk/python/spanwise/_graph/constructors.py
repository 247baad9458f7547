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
    """A variable of `dtype`. An extent of None in `shape` is not fixed. `device` is that of its values,
    by default the one of the function that uses it. `broadcastable` is Theano's form of the shape,
    and replaces it: True is extent 1, False is None."""
    return TensorType(dtype, shape if broadcastable is None else broadcastable, device)(name)


def _constructor(
    own_name: str, shape: tuple[int | None, ...], default: str | None
) -> Callable[..., Variable]:
    def make(name: str | None = None, dtype: Any = None) -> Variable:
        return TensorType(dtype or default or config.floatX, shape)(name)

    make.__name__ = make.__qualname__ = own_name
    make.__doc__ = f"A {own_name} of dtype {default or 'sw.config.floatX'}, or of `dtype`."
    return make


def _plural(name: str) -> str:
    return name[:-2] + "ices" if name.endswith("ix") else name + "s"


def _plural_constructor(name: str, make: Callable[..., Variable]) -> Callable[..., list[Variable]]:
    def make_several(*names: Any, dtype: Any = None) -> list[Variable]:
        if len(names) == 1 and isinstance(names[0], int):
            return [make(None, dtype) for _ in range(names[0])]
        if len(names) == 1 and isinstance(names[0], (str, list, tuple)):
            names = tuple(names[0])  # a string is one-letter names, as in Theano
        return [make(name, dtype) for name in names]

    make_several.__name__ = make_several.__qualname__ = _plural(name)
    make_several.__doc__ = (
        f"A list of {name} variables: one for each name or for each letter of a single string, or as "
        "many as a single integer says."
    )
    return make_several


def named_constructors() -> dict[str, Callable[..., Any]]:
    """Name -> constructor: "fmatrix", "fmatrices" and all others."""
    constructors: dict[str, Callable[..., Any]] = {}
    for letter, dtype in _DTYPES.items():
        for shape_name, shape in _SHAPES.items():
            name = letter + shape_name
            constructors[name] = make = _constructor(name, shape, dtype)
            constructors[_plural(name)] = _plural_constructor(name, make)
    return constructors
