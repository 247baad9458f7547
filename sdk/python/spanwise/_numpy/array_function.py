# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""__array_function__: NumPy's functions on Spanwise arrays and variables (numpy.org/neps/nep-0018).

Where Spanwise has a function of the same name, it is called, on any device. Other functions are
NumPy's own, for arrays on the CPU: NumPy gets views, and its results become Spanwise arrays.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Array, Variable
from .on_host import on_host

# Functions with like=, for which NumPy calls __array_function__ without that argument.
_LIKE = frozenset(
    [
        "arange",
        "array",
        "asarray",
        "ascontiguousarray",
        "empty",
        "eye",
        "full",
        "ones",
        "tri",
        "zeros",
    ]
)


def array_function(
    operand: Array | Variable,
    function: Any,
    types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Implements __array_function__ of `operand`, an array or a variable of a graph among the
    arguments of `function`."""
    import numpy as np

    arrays = (np.ndarray, np.memmap)
    if not all(issubclass(cls, Array | Variable) or cls in arrays for cls in types):
        return NotImplemented  # defer to the __array_function__ of the other type
    name = _name_of(function)
    kwargs = {key: value for key, value in kwargs.items() if key != "subok"}
    if name in _LIKE and kwargs.get("device") is None and isinstance(operand, Array):
        kwargs["device"] = operand.device
    if name in _ADAPTED:
        return _ADAPTED[name](*args, **kwargs)
    implementation = _spanwise_function(name)
    if implementation is None:
        reason = f"Spanwise has no function numpy.{name}"
    elif problem := _signature_error(implementation, len(args), tuple(kwargs)):
        reason = f"spanwise.{name} does not accept these arguments ({problem})"
    else:
        try:
            return implementation(*args, **kwargs)
        except NotImplementedError as error:  # norms by singular values, sorting
            reason = str(error)
        except (_core.BridgeError, _core.DTypeError) as error:
            if not any(map(_has_unsupported_dtype, args)):
                raise
            reason = str(error)
    return on_host(name, function, args, kwargs, reason)


def _has_unsupported_dtype(x: Any) -> bool:
    """Whether NumPy converts `x`, or an element of it, to a dtype of objects, text or dates."""
    import numpy as np

    if type(x) in (tuple, list):
        return any(map(_has_unsupported_dtype, x))
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "OSUMmV"
    return x is None or isinstance(x, str | bytes)


@functools.cache
def _name_of(function: Any) -> str:
    """The qualified name inside ``numpy``: "sum", "linalg.norm"."""
    module = function.__module__.partition(".")[2]
    return f"{module}.{function.__name__}" if module else function.__name__


def _spanwise_function(name: str) -> Any:
    import spanwise

    value: Any = spanwise
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if callable(value) and not isinstance(value, type) else None


@functools.lru_cache(maxsize=1024)
def _signature_error(function: Any, positional: int, keywords: tuple[str, ...]) -> str:
    """Why a call with this number of positional arguments and these keywords does not fit the signature
    of `function`; "" if it fits, or if the function has no signature."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return ""
    try:
        signature.bind(*(None,) * positional, **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error)
    return ""


# ---- Functions with other parameter names in NumPy, or with results of NumPy's types ----


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    from .elementwise import clip

    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    return clip(a, low, high, out=out, **kwargs)


def _size(a: Any, axis: Any = None) -> int:
    array = _core._operand(a)
    return array.size if axis is None else array.shape[axis]


_ADAPTED: dict[str, Callable[..., Any]] = {
    "clip": _clip,
    "copy": lambda a, order="K": _core._asarray(a).copy(order),
    "shape": lambda a: _core._operand(a).shape,
    "ndim": lambda a: _core._operand(a).ndim,
    "size": _size,
    "iscomplexobj": lambda x: _core._operand(x).dtype.kind == "c",
    "isrealobj": lambda x: _core._operand(x).dtype.kind != "c",
    "result_type": lambda *x: _core.result_type(*x).__numpy_dtype__,
}
