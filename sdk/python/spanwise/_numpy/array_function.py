# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""__array_function__: NumPy's functions on Spanwise arrays (numpy.org/neps/nep-0018).

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
    asked: Array | Variable,
    function: Any,
    types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Implements __array_function__ of `asked`, an array or a variable of a graph among the
    arguments."""
    import numpy as np

    plain = (np.ndarray, np.memmap)
    if not all(issubclass(kind, Array | Variable) or kind in plain for kind in types):
        return NotImplemented  # defer to the __array_function__ of the other type
    name = _name_of(function)
    kwargs = {word: value for word, value in kwargs.items() if word != "subok"}
    if name in _LIKE and kwargs.get("device") is None and isinstance(asked, Array):
        kwargs["device"] = asked.device
    if name in _ADAPTED:
        return _ADAPTED[name](*args, **kwargs)
    ours = _spanwise_function(name)
    if ours is None:
        return on_host(name, function, args, kwargs, f"Spanwise has no function numpy.{name}")
    if problem := _signature_error(ours, len(args), tuple(kwargs)):
        return on_host(
            name,
            function,
            args,
            kwargs,
            f"spanwise.{name} does not accept these arguments ({problem})",
        )
    try:
        return ours(*args, **kwargs)
    except NotImplementedError as error:  # norms by singular values, sorting
        return on_host(name, function, args, kwargs, str(error))
    except (_core.BridgeError, _core.DTypeError) as error:
        if not any(map(_is_of_no_dtype, args)):
            raise
        return on_host(name, function, args, kwargs, str(error))


def _is_of_no_dtype(x: Any) -> bool:
    """Whether NumPy converts `x`, or an element of it, to a dtype of objects, text or dates."""
    import numpy as np

    if type(x) in (tuple, list):
        return any(map(_is_of_no_dtype, x))
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

    found: Any = spanwise
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) and not isinstance(found, type) else None


@functools.cache
def _signature(ours: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(ours)
    except ValueError:
        return None


@functools.lru_cache(maxsize=1024)
def _signature_error(ours: Any, positional: int, keywords: tuple[str, ...]) -> str:
    """Why a call with this number of positional arguments and these keywords does not fit the signature
    of `ours`; "" if it fits."""
    signature = _signature(ours)
    if signature is None:
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


def _copy(a: Any, order: Any = "K") -> Array:
    return _core._asarray(a).copy(order)


def _extent(a: Any, axis: Any = None) -> int:
    array = _core._operand(a)
    return array.size if axis is None else array.shape[axis]


_ADAPTED: dict[str, Callable[..., Any]] = {
    "clip": _clip,
    "copy": _copy,
    "shape": lambda a: _core._operand(a).shape,
    "ndim": lambda a: _core._operand(a).ndim,
    "size": _extent,
    "iscomplexobj": lambda x: _core._operand(x).dtype.kind == "c",
    "isrealobj": lambda x: _core._operand(x).dtype.kind != "c",
    "result_type": lambda *x: _core.result_type(*x).__numpy_dtype__,
}
