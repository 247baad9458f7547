# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Array.__array_ufunc__: NumPy's ufuncs on Spanwise arrays (NEP 13)."""

from __future__ import annotations

from typing import Any

from .. import _core
from .on_host import on_host

#: (ufunc, method) -> the function that does the same.
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


# Functions that take no keyword options here.
_PLAIN = ("modf", "frexp", "ldexp")


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Implements Array.__array_ufunc__: calls the function of the same name, or NumPy's own for
    arrays on the CPU."""
    for x in (*inputs, *options["out"]) if "out" in options else inputs:
        if type(x) is not _core.Array and _core._overrides_ufuncs(x):
            return NotImplemented  # defer to the __array_ufunc__ of x
    name = ufunc.__name__
    ours = _of_ufunc(name) if method == "__call__" else _of_method(name, method)
    if ours is None or (name in _PLAIN and options):
        called = name if method == "__call__" else f"{name}.{method}"
        why = f"Spanwise has no operation numpy.{called}"
        return on_host(called, getattr(ufunc, method), inputs, options, why)
    if method != "__call__":
        options.setdefault("axis", 0)
        inputs = _reduced_in_dtype(METHODS[name, method], inputs, options)
    out = options.pop("out", None)
    if out is not None:
        options["out"] = out if name == "divmod" else out[0]
    return ours(*inputs, **options)


def _reduced_in_dtype(
    ours: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """The operand of min and max cast to dtype=, which they do not take; any and all accept only
    dtype=bool and raise DTypeError for others."""
    if ours not in ("min", "max", "all", "any"):
        return inputs
    dtype = options.pop("dtype", None)
    if dtype is None:
        return inputs
    wanted = _core.dtype(dtype)
    if ours in ("min", "max"):
        return (_core._asarray(inputs[0]).astype(wanted, copy=False), *inputs[1:])
    if wanted != "bool":
        raise _core.DTypeError(f"{ours}: no loop gives dtype={wanted}; the result is bool")
    return inputs


def _of_ufunc(name: str) -> Any:
    import spanwise as sw

    if name in _PLAIN or name in ("divmod", "matmul", "vecdot", "matvec", "vecmat"):
        return getattr(sw, name, None)
    found = getattr(_core, "_clip" if name == "clip" else name, None)
    return found if isinstance(found, _core.ufunc) else None


def _of_method(name: str, method: str) -> Any:
    import spanwise as sw

    ours = METHODS.get((name, method))
    return getattr(sw, ours) if ours else None
