# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions of a Theano function's arguments and results. They are chosen when the function is
compiled, so that a call runs only those that its types need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import Any

import spanwise as sw

from ._device_array import unwrap
from ._gpu_array import class_for

Conversion = Callable[[Any], Any]


def result_conversion(variable: Any, on_gpu: bool) -> Conversion | None:
    """Makes a result of `variable` a device array if it stays on the GPU, or int8 if it is a bool
    array on the host. None if the result is returned as it is."""
    dtype = str(variable.type.dtype)
    if on_gpu:
        # The class's own __new__ checks what the compiler of the graph has checked.
        return partial(sw.Array.__new__, class_for(dtype))
    return methodcaller("view", "int8") if dtype == "bool" else None


def combined(conversions: Any) -> Conversion | None:
    """One conversion for the result of a call from `conversions`, which has the form of the outputs: a
    single one, a list or a dict. None if no result is converted."""
    if isinstance(conversions, Mapping):
        if not any(conversions.values()):
            return None
        return lambda results: {key: _applied(conversions[key], results[key]) for key in results}
    if isinstance(conversions, list):
        if not any(conversions):
            return None
        return lambda results: [_applied(*pair) for pair in zip(conversions, results, strict=True)]
    return conversions


def caller(compiled: Any, convert: Conversion | None, may_overwrite: bool) -> Callable[..., Any]:
    """What a call of the function runs: `compiled` itself if there is nothing to convert.

    With `may_overwrite`, arguments that are Spanwise's arrays are copied: the program may overwrite
    an argument that is on its device.
    """
    if not may_overwrite:
        if convert is None:
            return compiled
        if isinstance(convert, partial):  # one Python call fewer than below
            make, (kind,) = convert.func, convert.args
            return lambda *arguments, **named: make(kind, compiled(*arguments, **named))
        return lambda *arguments, **named: convert(compiled(*arguments, **named))

    def call(*arguments: Any, **named: Any) -> Any:
        result = compiled(
            *[_copied(value) for value in arguments],
            **{name: _copied(value) for name, value in named.items()},
        )
        return result if convert is None else convert(result)

    return call


def _copied(value: Any) -> Any:
    return unwrap(value).copy() if isinstance(value, sw.Array) else value


def _applied(convert: Conversion | None, value: Any) -> Any:
    return value if convert is None else convert(value)
