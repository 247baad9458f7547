# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.kernel_op``: a CUDA C kernel declared as an op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from .op import NativeOp


def _texts(values: Any) -> list[str]:
    """One expression or several; integers are expressions too."""
    if isinstance(values, (str, int)):
        values = (values,)
    return [str(value) for value in values]


def kernel_op(
    name: str,
    source: str,
    inputs: Iterable[str] | str = (),
    outputs: Iterable[str] | str = (),
    *,
    arguments: Iterable[str] = (),
    block: Any = (256,),
    grid: Any = (),
    shared: str | int = 0,
    scalars: Mapping[str, Any] | None = None,
    overwrites: Mapping[str, str] | None = None,
    kernel: str = "",
    options: Iterable[str] = (),
    include_dirs: Iterable[Any] = (),
) -> NativeOp:
    """An op that runs the kernel `kernel` (default: `name`, else the only one) of `source`.

    `inputs` and `outputs` declare arrays as "name: layout dtype[extents]", such as
    "image: strided uint8[h, w, 3]". The layout is "contiguous" (a pointer parameter; an input is copied
    if it must be) or "strided" (a parameter spanwise::View<T, N> of <spanwise/view.cuh>). The dtype is a
    name, or a capital letter for any, the same wherever it stands; the source may use it as a type.
    Extents are names, which the inputs' shapes give their values, or integer expressions over them with
    + - * // % ( ), min(), max() and cdiv(). `arguments` lists what the kernel's parameters get: names of
    arrays, extents and `scalars`, or expressions; by default it follows the parameters' names. `block`,
    `grid` and `shared` (bytes) are integers or expressions; without a grid there is a thread for each
    element of the first output.

    `overwrites` says in which input's memory an output is computed, ``{"y": "x"}``, both declared alike:
    the kernel finds the elements of `x` in `y`, and the pointers to both are one. A graph lets it have the
    memory where nobody else needs `x`, and a copy elsewhere.

    Raises ArgumentError where the declaration does not hold together. The kernel is compiled when a
    function that uses the op is.
    """
    if not scalars:
        scalars = {}
    return _core._kernel_op(
        {
            "name": name,
            "source": source,
            "kernel": kernel,
            "inputs": [inputs] if isinstance(inputs, str) else list(inputs),
            "outputs": [outputs] if isinstance(outputs, str) else list(outputs),
            "arguments": _texts(arguments),
            "block": _texts(block),
            "grid": _texts(grid),
            "shared": str(shared),
            "scalars": dict(scalars),
            "overwrites": dict(overwrites or {}),
            "options": [options] if isinstance(options, str) else list(options),
            "include_dirs": [str(folder) for folder in include_dirs],
        }
    )


def kernel_op_counts() -> dict[str, dict[str, int]]:
    """By op name: how often a contiguous input was `shared` and `copied`, and `bytes_copied`."""
    return {counts.pop("name"): counts for counts in _core._kernel_op_counts()}
