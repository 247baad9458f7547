# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's own functions on arrays on the CPU, for functions and ufuncs that Spanwise lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Array, Variable


def on_host(
    name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> Any:
    """Calls NumPy's `function` on NumPy views of the arrays. Raises TypeError for arrays on
    a GPU and for variables; its text contains `reason`, why Spanwise does not compute the function."""
    # The id of a view -> (view, array), for results that are it.
    views: dict[int, tuple[Any, Array]] = {}

    def copy_in(x: Any) -> Any:
        if isinstance(x, Variable):
            raise TypeError(
                f"numpy.{name}: {reason}, and NumPy cannot compute on a variable of a graph, which has "
                f"no value yet: got {x} of {x.type}"
            )
        if isinstance(x, Array):
            if x.device.kind != "cpu":
                raise TypeError(
                    f"numpy.{name}: {reason}, and NumPy cannot read the memory of {x.device.name}: "
                    f"got {x.dtype} of shape {x.shape}; copy it to the host first: a.numpy()"
                )
            view = x.numpy()
            views[id(view)] = view, x
            return view
        return _mapped(copy_in, x)

    def copy_out(x: Any) -> Any:
        if id(x) in views:
            return views[id(x)][1]
        return _as_spanwise(x) if hasattr(x, "dtype") else _mapped(copy_out, x)

    return copy_out(function(*map(copy_in, args), **_mapped(copy_in, kwargs)))


def _mapped(f: Callable[[Any], Any], x: Any) -> Any:
    """The dict, tuple or list `x` with f(item) for each item; another `x` itself."""
    if isinstance(x, dict):
        return {key: f(value) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(f, x))
    return type(x)(map(f, x)) if type(x) in (tuple, list) else x


def _as_spanwise(x: Any) -> Any:
    """A NumPy array or scalar as a Spanwise array over the same memory; `x` itself for dtypes that
    Spanwise does not have."""
    import numpy as np

    if type(x) is not np.ndarray and not isinstance(x, np.generic):
        return x
    try:
        is_supported = _core.dtype(x.dtype).is_computable
    except _core.DTypeError:
        is_supported = False
    return _core._asarray(x, device="cpu") if is_supported and x.dtype.isnative else x
