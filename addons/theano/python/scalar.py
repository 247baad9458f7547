# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.scalar``: types of scalars, by dtype."""

from __future__ import annotations

import functools
from typing import Any

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.graph import TensorType

from ._old_paths import submodules as _submodules
from ._ops import ScalarOp

#: Theano's name -> the name in spanwise.tensor.
_OPS = {
    **{name: name for name in (
        "add", "and_", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil",
        "clip", "cos", "cosh", "deg2rad", "eq", "erf", "exp", "exp2", "expm1", "floor", "ge", "gt",
        "int_div", "invert", "isinf", "isnan", "le", "log", "log10", "log1p", "log2", "lt", "maximum",
        "minimum", "mod", "mul", "neg", "neq", "or_", "pow", "rad2deg", "sgn", "sigmoid", "sin", "sinh",
        "softplus", "sqr", "sqrt", "sub", "switch", "tan", "tanh", "true_div", "trunc", "xor",
    )},
    "abs_": "abs", "inv": "reciprocal", "round_half_to_even": "rint",
}  # fmt: skip

__all__ = [
    "BinaryScalarOp", "ScalarOp", "UnaryScalarOp", "float_out", "int_out", "same_out", "upcast_out",
    "upgrade_to_float", "upgrade_to_float_no_complex", *_OPS,
    "Scalar", "float32", "float64", "int32", "int64", "upcast",
]  # fmt: skip

__path__: list[str] = []  # a package in Theano
__getattr__ = _submodules("scalar")


def Scalar(dtype: Any) -> TensorType:  # noqa: N802
    """The type of a variable of rank 0."""
    return TensorType(dtype, ())


float32, float64, int32, int64 = map(Scalar, ("float32", "float64", "int32", "int64"))


class _NamedOp(ScalarOp):
    """An op of this module."""

    def __init__(self, name: str, function: Any) -> None:
        super().__init__(name=name)
        self._function = function

    def __call__(self, *inputs: Any) -> Any:
        if self.name in ("add", "mul") and len(inputs) > 2:
            return functools.reduce(self._function, inputs)
        return self._function(*map(T.as_variable, inputs))


globals().update((name, _NamedOp(name, getattr(T, own))) for name, own in _OPS.items())


class UnaryScalarOp(ScalarOp):
    nin = 1


class BinaryScalarOp(ScalarOp):
    nin = 2


# ---- Dtypes of results, for ScalarOp ----


def same_out(*types: Any) -> list[str]:
    """The dtype of the input."""
    return [str(types[0])]


def upcast_out(*types: Any) -> list[str]:
    """The dtype to which the inputs are promoted."""
    return [upcast(*types)]


def upgrade_to_float(*types: Any) -> list[str]:
    """The dtype to which the inputs are promoted, or the floating dtype for integers."""
    small = {
        "bool": "float32",
        "int8": "float32",
        "uint8": "float32",
        "int16": "float32",
        "uint16": "float32",
    }
    floats = [
        str(t) if "float" in str(t) or "complex" in str(t) else small.get(str(t), "float64")
        for t in types
    ]
    return [upcast(*floats)]


upgrade_to_float_no_complex = upgrade_to_float


def float_out(*types: Any) -> list[str]:
    """float64."""
    return ["float64"]


def int_out(*types: Any) -> list[str]:
    """int64."""
    return ["int64"]


def upcast(*dtypes: Any) -> str:
    """The dtype to which `dtypes` are promoted, by NumPy's rules."""
    return str(sw.result_type(*dtypes))
