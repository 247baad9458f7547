# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Array.__array_ufunc__: NumPy's ufuncs on Spanwise arrays (NEP 13)."""

from __future__ import annotations

from typing import Any

from .. import _core
from .on_host import on_host

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
            return NotImplemented  # defer to the __array_ufunc__ of x
    name = ufunc.__name__
    function = (
        _function_of_ufunc(name) if method == "__call__" else _function_of_method(name, method)
    )
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
