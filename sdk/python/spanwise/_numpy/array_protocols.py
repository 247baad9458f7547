# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's protocols __array_function__ and __array_ufunc__ on Spanwise arrays and variables
(numpy.org/neps/nep-0018, NEP 13).

Where Spanwise has a function of the same name, it is called, on any device. Other functions are
NumPy's own, for arrays on the CPU: NumPy gets views, and its results become Spanwise arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import _core
from .._core import Array, Variable
from .borrowed import borrowed, on_host
from .elementwise import check_separate, clip

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
    # Modules of Spanwise are callable to say which of their functions to call.
    return value if callable(value) and not isinstance(value, type | ModuleType) else None


@functools.lru_cache(maxsize=1024)
def _signature_error(function: Any, positional: int, keywords: tuple[str, ...]) -> str:
    """Why a call with this number of positional arguments and these keywords does not fit the signature
    of `function`; "" if it fits, or if the function has no signature."""
    import inspect

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
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    return clip(a, low, high, out=out, **kwargs)


_ADAPTED: dict[str, Callable[..., Any]] = {
    "linalg.eig": lambda a: borrowed("linalg.eig")(a),
    "linalg.eigvals": lambda a: borrowed("linalg.eigvals")(a),
    "clip": _clip,
    "result_type": lambda *x: _core.result_type(*x).__numpy_dtype__,
}


# ---- __array_ufunc__ ----

#: (ufunc, method) -> the name of the equivalent function.
METHODS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("minimum", "reduce"): "min",
    ("maximum", "reduce"): "max",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
}

# Functions that take no options in Spanwise.
_WITHOUT_OPTIONS = ("modf", "frexp", "ldexp")


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Implements Array.__array_ufunc__: calls the function of the same name, or NumPy's own for
    arrays on the CPU."""
    for x in (*inputs, *options["out"]) if "out" in options else inputs:
        if type(x) is not _core.Array and _core._overrides_ufuncs(x):
            return _left_to(x, ufunc, method, inputs, options)
    name = ufunc.__name__
    function = (
        _function_of_ufunc(name) if method == "__call__" else _function_of_method(name, method)
    )
    if len(options.get("out", ())) > 1:
        check_separate(name, options["out"])
    if function is None or (name in _WITHOUT_OPTIONS and options):
        operation = name if method == "__call__" else f"{name}.{method}"
        reason = f"Spanwise has no operation numpy.{operation}"
        return on_host(operation, getattr(ufunc, method), inputs, options, reason)
    if method != "__call__":
        options.setdefault("axis", 0)
        inputs = _inputs_in_dtype(METHODS[name, method], inputs, options)
    out = options.pop("out", None)
    if out is not None:
        options["out"] = out if name == "divmod" else out[0]
    return function(*inputs, **options)


def _left_to(
    other: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """NotImplemented, so that NumPy calls the __array_ufunc__ of `other`. A subclass of ndarray, such as
    one with units, computes with ndarrays only: it is called with views of arrays on the CPU."""
    import numpy as np

    is_on_host = all(x.device.kind == "cpu" for x in inputs if isinstance(x, Array))
    has_variable = any(isinstance(x, Variable) for x in inputs)
    if not isinstance(other, np.ndarray) or "out" in options or has_variable or not is_on_host:
        return NotImplemented
    views = [x.numpy() if isinstance(x, Array) else x for x in inputs]
    return getattr(ufunc, method)(*views, **options)


def _inputs_in_dtype(
    function: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Applies and removes the option dtype for functions that do not take it: min and max get their
    operand cast, any and all raise DTypeError for another dtype than bool."""
    if function not in ("min", "max", "all", "any"):
        return inputs
    dtype = options.pop("dtype", None)
    if dtype is None:
        return inputs
    dtype = _core.dtype(dtype)
    if function in ("min", "max"):
        return (_core._asarray(inputs[0]).astype(dtype, copy=False), *inputs[1:])
    if dtype != "bool":
        raise _core.DTypeError(f"{function}: no loop gives dtype={dtype}; the result is bool")
    return inputs


def _function_of_ufunc(name: str) -> Any:
    import spanwise as sw

    if name in _WITHOUT_OPTIONS or name in ("divmod", "matmul", "vecdot", "matvec", "vecmat"):
        return getattr(sw, name, None)
    function = getattr(_core, "_clip" if name == "clip" else name, None)
    return function if isinstance(function, _core.ufunc) else None


def _function_of_method(name: str, method: str) -> Any:
    import spanwise as sw

    function = METHODS.get((name, method))
    return getattr(sw, function) if function else None
