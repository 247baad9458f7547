# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of variables that Theano has and Spanwise lacks, and arguments of reductions that differ."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import TensorType, Variable, recipe_of

from .tensor import basic, extra_ops

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_REDUCTIONS = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")
_FUNCTIONS = {
    **dict.fromkeys(("sqrt", "trunc", "ones_like", "zeros_like"), T),
    **dict.fromkeys(("diagonal", "ptp", "repeat", "argsort", "sort"), T),
    "searchsorted": extra_ops,
    **dict.fromkeys(
        ("get_scalar_constant_value", "fill", "nonzero", "nonzero_values", "norm", "choose"), basic
    ),
}


def _is_true(self: Variable) -> bool:
    name = recipe_of(self.owner.op)[0] if self.owner is not None else None
    if name in _COMPARISONS:
        raise TypeError(
            f"{self} is a comparison, which has no value before the function runs: use T.switch, ifelse, "
            "or T.and_ and T.or_"
        )
    return True


_METHOD_RESHAPE = Variable.reshape


def _reshape(self: Any, *shape: Any, ndim: int | None = None) -> Variable:
    """``x.reshape(shape, ndim)``"""
    match shape:
        case ([*extents], rank):
            return _METHOD_RESHAPE(self, extents, ndim=rank)
    return _METHOD_RESHAPE(self, *shape, ndim=ndim)


_METHOD_GETITEM = Variable.__getitem__


def _getitem(self: Variable, key: Any) -> Variable:
    """``x[key]``; a list that has a slice, None or an Ellipsis is a tuple, as in NumPy of Theano's time."""
    if isinstance(key, list) and any(
        part is None or part is Ellipsis or isinstance(part, slice) for part in key
    ):
        key = tuple(key)
    return _METHOD_GETITEM(self, key)


def _as_object(self: Variable, dtype: Any = None, copy: Any = None) -> np.ndarray:
    """An array of rank 0 with the variable as its element, so that NumPy's functions of lists of
    variables, such as numpy.prod(shape), compute with their operators."""
    result = np.empty((), object)
    result[()] = self
    return result


def _get_attribute(self: Variable, name: str) -> Any:
    """An attribute that a script has set, as Keras sets ``x._keras_shape``; in the variable's tag."""
    attributes = vars(object.__getattribute__(self, "tag")).get("theano_attributes", {})
    if name in attributes:
        return attributes[name]
    raise AttributeError(f"a variable has no attribute {name!r}")


def _set_attribute(self: Variable, name: str, value: Any) -> None:
    if hasattr(type(self), name):
        object.__setattr__(self, name, value)
    else:
        vars(self.tag).setdefault("theano_attributes", {})[name] = value


def _filtered(self: Any, data: Any, strict: bool = False, allow_downcast: Any = None) -> np.ndarray:
    """`data` as an array of this type. Raises TypeError for another rank, or for values that its dtype
    does not hold."""
    array = np.asarray(data)
    dtype = np.dtype(str(self.dtype))
    if array.ndim != self.ndim or (strict and array.dtype != dtype):
        raise TypeError(f"expected an array of {self}, got {array.dtype} of shape {array.shape}")
    if (
        not allow_downcast
        and not np.can_cast(array.dtype, dtype)
        and (array.astype(dtype) != array).any()
    ):
        raise TypeError(f"{self} does not hold the values of {array.dtype} exactly; cast them")
    return array.astype(dtype)


def _is_valid(self: Any, data: Any) -> bool:
    try:
        _filtered(self, data, strict=True)
    except TypeError:
        return False
    return isinstance(data, np.ndarray)


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
        setattr(Variable, name, _method(getattr(basic, name)))
    Variable.mean = basic._reduction("mean", ("dtype", "keepdims", "acc_dtype"))  # type: ignore[method-assign]
    Variable.round = _method(basic.round)
    Variable.compress = lambda self, a, axis=None: extra_ops.compress(a, self, axis)  # type: ignore[attr-defined]
    Variable.reshape = _reshape  # type: ignore[method-assign]
    TensorType.filter, TensorType.is_valid_value = _filtered, _is_valid  # type: ignore[attr-defined]
    TensorType.make_variable = lambda self, name=None: self(name)  # type: ignore[attr-defined]
    for name in ("real", "imag"):
        setattr(Variable, name, property(getattr(basic, name)))
    Variable.copy = basic.tensor_copy  # type: ignore[attr-defined]
    Variable.__bool__ = _is_true
    Variable.__getitem__, Variable.__array__ = _getitem, _as_object
    for name, method in {"__getattr__": _get_attribute, "__setattr__": _set_attribute}.items():
        setattr(Variable, name, method)
    for name in ("rng", "update"):  # of random variables
        setattr(Variable, name, property(operator.attrgetter(f"tag.{name}")))
