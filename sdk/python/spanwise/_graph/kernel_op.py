# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.kernel_op``: an op from a CUDA C kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import _core
from .op import NativeOp, Op
from .op_gradient import GradFunction, check_kernel_gradient


def _texts(values: Any) -> list[str]:
    """One expression (text or integer) or several, as a list of texts."""
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
    grad: GradFunction | Mapping[str, Op] | None = None,
) -> NativeOp:
    """An op that runs the kernel `kernel` (default: `name`, else the only one) of `source`.

    `inputs` and `outputs` declare arrays as "name: layout dtype[extents]", such as "image: strided
    uint8[h, w, 3]". The layout is "contiguous" (a pointer parameter; an input that is not
    C-contiguous is copied) or "strided" (a parameter spanwise::View<T, N> of <spanwise/view.cuh>).
    The dtype is a name, or a capital letter that stands for any dtype, the same at each occurrence;
    the source may use the letter as a type. Extents are names, whose values come from the inputs'
    shapes, or integer expressions of names with + - * // % ( ), min(), max() and cdiv().
    `arguments` lists the values of the kernel's parameters in order: names of arrays, extents and
    `scalars`, or expressions; by default the parameters' own names. `block`, `grid` (in blocks) and
    `shared` (bytes) are integers or expressions; without `grid` there is at least one thread for
    each element of the first output.

    `overwrites` maps an output to the input in whose memory it is computed, ``{"y": "x"}``. Both
    have the same declaration; the kernel gets the same pointer for both, with the elements of `x`.
    The graph passes the memory of `x` itself if nothing else uses `x` afterwards, else a copy.

    `grad` gives the derivatives for ``sw.tensor.grad``: a function
    ``grad(inputs, output_gradients)`` that returns a list with a variable for each input, as the
    method of an Op; or an op for each input, ``{"x": x_gradient}``, whose output is the derivative.
    The inputs of such an op are matched by name: those of this op, its outputs, and "d" with the
    name of an output for the derivative with respect to it.

    Raises ArgumentError for an inconsistent declaration. The kernel is compiled together with the
    function that uses the op.
    """
    if not scalars:
        scalars = {}
    op = _core._kernel_op(
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
            "grad": grad,
        }
    )
    check_kernel_gradient(op)
    return op


def kernel_op_counts() -> dict[str, dict[str, int]]:
    """By op name: how many contiguous inputs were passed without a copy (`shared`) and `copied`,
    and `bytes_copied`."""
    return {counts.pop("name"): counts for counts in _core._kernel_op_counts()}
