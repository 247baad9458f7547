# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Constructors of variables (usual alias ``T``): ``T.fmatrix("x")``, ``T.tensor("float32", (None, 3))``.

``scalar``, ``vector``, ``row``, ``col``, ``matrix``, ``tensor3``, ``tensor4`` and ``tensor5`` make variables of
``sw.config.floatX``; a letter in front names another dtype, as in Theano: b, w, i, l are int8 to int64, f
and d float32 and float64, c and z complex64 and complex128. Each takes a name; with several names, or
with an ``s`` at its end and a count, it makes several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._config import config
from ._core import TensorType, Variable, dot, matmul
from ._elementwise import clip, divmod, round, where
from .graph import as_variable, contiguous

as_tensor_variable = as_variable

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

__all__ = [
    "as_tensor_variable",
    "as_variable",
    "clip",
    "constant",
    "contiguous",
    "divmod",
    "dot",
    "matmul",
    "round",
    "tensor",
    "where",
]


def tensor(
    dtype: Any,
    shape: Sequence[int | None] = (),
    name: str | None = None,
    device: Any = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> Variable:
    """A variable; None in `shape` is a free extent. `broadcastable` is Theano's way to say a shape."""
    return TensorType(dtype, shape if broadcastable is None else broadcastable, device)(name)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Variable:
    """A constant with a copy of `value`, an array of any library or a number."""
    if dtype is None:
        return as_variable(value, name)
    from ._core import array

    return as_variable(array(value, dtype=dtype), name)


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
        return [make(name, dtype) for name in names]

    make_several.__name__ = make_several.__qualname__ = _plural(kind)
    make_several.__doc__ = f"One {kind} for each name, or as many as the integer says."
    return make_several


if TYPE_CHECKING:  # fmatrix, ivectors, ...: made below, one for each dtype and rank

    def __getattr__(name: str) -> Callable[..., Any]: ...


def _add_constructors() -> None:
    for letter, dtype in _DTYPES.items():
        for shape_name, shape in _SHAPES.items():
            kind = letter + shape_name
            make = _constructor(kind, shape, dtype)
            globals()[kind] = make
            globals()[_plural(kind)] = _several(kind, make)
            __all__.extend((kind, _plural(kind)))


# Theano's names of operations that NumPy calls otherwise.
_THEANO = {
    "neg": "negative",
    "sub": "subtract",
    "mul": "multiply",
    "true_div": "divide",
    "int_div": "floor_divide",
    "sqr": "square",
    "sgn": "sign",
    "inv": "reciprocal",
    "eq": "equal",
    "neq": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "switch": "_where",
    "abs_": "absolute",
}


def _add_operations() -> None:
    """T.exp(x) and its like: the same objects as sw.exp, which take variables too."""
    for name, value in vars(_core).items():
        if isinstance(value, _core.ufunc) and not name.startswith("_"):
            globals()[name] = value
            __all__.append(name)
    for name, ours in _THEANO.items():
        globals()[name] = getattr(_core, ours)
        __all__.append(name)


_add_constructors()
_add_operations()
