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
    ours = _ours(name)
    if ours is None:
        return on_host(name, function, args, kwargs, f"Spanwise has no function numpy.{name}")
    if misfit := _misfit(ours, args, kwargs):
        return on_host(
            name, function, args, kwargs, f"spanwise.{name} takes no such call ({misfit})"
        )
    try:
        return ours(*args, **kwargs)
    except NotImplementedError as error:  # norms by singular values, sorting
        return on_host(name, function, args, kwargs, str(error))
    except (_core.BridgeError, _core.DTypeError) as error:
        if not any(map(_is_of_no_dtype, args)):
            raise
        return on_host(name, function, args, kwargs, str(error))


def on_host(
    name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str
) -> Any:
    """Calls NumPy's `function` on NumPy views of the arrays. Raises TypeError, with the reason
    `why`, for arrays on a GPU and for variables."""
    views: dict[int, tuple[Any, Array]] = {}

    def lend(x: Any) -> Any:
        if isinstance(x, Variable):
            raise TypeError(
                f"numpy.{name}: {why}, and NumPy's cannot compute on a variable of a graph, which has "
                f"no value yet: got {x} of {x.type}"
            )
        if isinstance(x, Array):
            if x.device.kind != "cpu":
                raise TypeError(
                    f"numpy.{name}: {why}, and NumPy's cannot read the memory of {x.device.name}: "
                    f"got {x.dtype} of shape {x.shape}; copy it to the host first: a.numpy()"
                )
            view = x.numpy()
            views[id(view)] = view, x
            return view
        return _mapped(lend, x)

    def take_back(x: Any) -> Any:
        if id(x) in views:
            return views[id(x)][1]
        return _adopted(x) if hasattr(x, "dtype") else _mapped(take_back, x)

    lent = {word: lend(value) for word, value in kwargs.items()}
    return take_back(function(*(lend(x) for x in args), **lent))


def _is_of_no_dtype(x: Any) -> bool:
    """Whether NumPy converts `x`, or an element of it, to a dtype of objects, text or dates."""
    import numpy as np

    if type(x) in (tuple, list):
        return any(map(_is_of_no_dtype, x))
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "OSUMmV"
    return x is None or isinstance(x, str | bytes)


def _mapped(f: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, dict):
        return {key: f(value) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(f, x))
    return type(x)(map(f, x)) if type(x) in (tuple, list) else x


def _adopted(x: Any) -> Any:
    """A NumPy array or scalar as a Spanwise array over the same memory; `x` itself for dtypes that
    Spanwise does not have."""
    import numpy as np

    if type(x) is not np.ndarray and not isinstance(x, np.generic):
        return x
    try:
        is_ours = _core.dtype(x.dtype).is_computable
    except _core.DTypeError:
        is_ours = False
    return _core._asarray(x, device="cpu") if is_ours and x.dtype.isnative else x


@functools.cache
def _name_of(function: Any) -> str:
    """The qualified name inside ``numpy``: "sum", "linalg.norm"."""
    module = function.__module__.partition(".")[2]
    return f"{module}.{function.__name__}" if module else function.__name__


def _ours(name: str) -> Any:
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


def _misfit(ours: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why the arguments do not fit the signature of `ours`; "" if they do."""
    signature = _signature(ours)
    if signature is None:
        return ""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return ""


# ---- Functions with other parameter names in NumPy, or with results of NumPy's types ----


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **words: Any) -> Any:
    from .elementwise import clip

    low, high = words.pop("min", a_min), words.pop("max", a_max)
    return clip(a, low, high, out=out, **words)


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
