# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in any number of spatial dimensions: windows of the input become an axis, over
which a product or a reduction goes. Extents may be unknown until the function runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import spanwise.tensor as T  # noqa: N812
from spanwise import GraphError
from spanwise.graph import Variable

from .basic import as_tensor_variable

Pads = Sequence[tuple[Any, Any]]


def as_extents(x: Any, count: int, name: str) -> tuple[Any, ...]:
    """One number for each spatial dimension: of a sequence of them, or the same for all."""
    extents = tuple(x) if isinstance(x, (tuple, list)) else (x,) * count
    if len(extents) != count:
        raise ValueError(f"{name}: expected {count} numbers, got {x!r}")
    return extents


def padded(x: Variable, pads: Pads, value: float) -> Variable:
    """`x` with (before, after) elements of `value` at the ends of each spatial axis."""
    if all(isinstance(n, int) and n == 0 for pair in pads for n in pair):
        return x
    first = x.ndim - len(pads)
    extents = [x.shape[i] for i in range(x.ndim)]
    index: list[Any] = [slice(None)] * first
    for i, (before, after) in enumerate(pads):
        index.append(slice(before, before + extents[first + i]))
        extents[first + i] = extents[first + i] + before + after
    filled = T.constant(value, dtype=x.dtype).broadcast_to(tuple(extents))
    return T.set_subtensor(filled[tuple(index)], x)


def windows(
    x: Variable, sizes: Sequence[Any], steps: Sequence[Any], dilations: Sequence[Any]
) -> tuple[Variable, list[Any]]:
    """(windows of shape (..., *sizes, *counts), counts): how many windows fit along each of the last
    axes."""
    count, counts = len(sizes), []
    first = x.ndim - count
    for i in range(count):
        axis = first + 2 * i
        reach = (sizes[i] - 1) * dilations[i] + 1
        counts.append(T.maximum((x.shape[axis] - reach) // steps[i] + 1, 0))
        inner = (T.arange(sizes[i]) * dilations[i]).dimshuffle(0, "x")
        starts = (T.arange(counts[i]) * steps[i]).dimshuffle("x", 0)
        x = T.take(x, inner + starts, axis=axis)
    order = [*range(first), *range(first, x.ndim, 2), *range(first + 1, x.ndim, 2)]
    return x.dimshuffle(*order), counts


def convolve(
    x: Variable,
    filters: Variable,
    border_mode: Any,
    steps: Any,
    filter_flip: bool,
    dilations: Any,
    groups: int = 1,
) -> Variable:
    """The convolution of `x` (batch, channels, *space) with `filters` (outputs, channels / groups,
    *space), or with filter_flip=False the correlation."""
    count = x.ndim - 2
    if count < 1 or filters.ndim != x.ndim:
        raise GraphError(
            f"convolution: expected an input and filters of the same rank, 3 or more, got {x.type} and "
            f"{filters.type}"
        )
    dtype = np.promote_types(str(x.dtype), str(filters.dtype))
    x, filters = x.astype(str(dtype)), filters.astype(str(dtype))
    steps, dilations = (as_extents(n, count, "convolution") for n in (steps, dilations))
    sizes = [filters.shape[2 + i] for i in range(count)]
    x = padded(x, _pads(border_mode, sizes, dilations), 0)
    if filter_flip:
        filters = filters[(slice(None), slice(None), *[slice(None, None, -1)] * count)]
    parts, counts = windows(x, sizes, steps, dilations)
    batch, inner = parts.shape[0], filters.shape[1]
    for size in sizes:
        inner = inner * size
    places: Any = 1
    for n in counts:
        places = places * n
    rows = filters.shape[0]
    if groups == 1:
        product = T.matmul(filters.reshape((rows, inner)), parts.reshape((batch, inner, places)))
    else:
        grouped = filters.reshape((groups, rows // groups, inner))
        product = T.matmul(grouped, parts.reshape((batch, groups, inner, places)))
    return product.reshape((batch, rows, *counts))


def _pads(border_mode: Any, sizes: Sequence[Any], dilations: Sequence[Any]) -> Pads:
    if border_mode == "valid":
        return [(0, 0)] * len(sizes)
    reaches = [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations, strict=True)]
    if border_mode == "full":
        return [(reach - 1, reach - 1) for reach in reaches]
    if border_mode == "half":
        return [(reach // 2, reach // 2) for reach in reaches]
    if isinstance(border_mode, str):
        raise ValueError(
            f'border_mode: expected "valid", "full", "half" or numbers, got {border_mode!r}'
        )
    entries = as_extents(border_mode, len(sizes), "border_mode")
    return [tuple(n) if isinstance(n, (tuple, list)) else (n, n) for n in entries]


def _pooled(
    x: Variable, sizes: Any, ignore_border: bool, steps: Any, pads: Any, mode: str
) -> Variable:
    """Windows of `sizes` along the last axes of `x`, reduced by `mode`: max, sum, average_inc_pad or
    average_exc_pad. Without ignore_border, windows that leave `x` are smaller."""
    count = len(sizes)
    if mode not in ("max", "sum", "average_inc_pad", "average_exc_pad"):
        raise ValueError(
            f"pool: expected the mode max, sum, average_inc_pad or average_exc_pad, got {mode!r}"
        )
    steps = sizes if steps is None else as_extents(steps, count, "stride")
    pads = as_extents(0 if pads is None else pads, count, "pad")
    if not ignore_border and any(pads):
        raise ValueError(f"pool: a pad needs ignore_border=True, got pad={pads}")
    first = x.ndim - count
    ends: list[Any] = list(pads)
    if not ignore_border:
        for i in range(count):
            extent, size, step = x.shape[first + i], sizes[i], steps[i]
            if step >= size:
                outputs = (extent - 1) // step + 1
            else:
                outputs = T.maximum((extent - 1 - size + step) // step, 0) + 1
            ends[i] = T.maximum((outputs - 1) * step + size - extent, 0)
    borders = list(zip(pads, ends, strict=True))
    axes = tuple(range(first, first + count))

    def reduced(y: Variable, value: float, reduction: Any) -> Variable:
        parts, _ = windows(padded(y, borders, value), sizes, steps, (1,) * count)
        return reduction(parts, axis=axes)

    if mode == "max":
        is_float = str(x.dtype).startswith("float")
        lowest = -np.inf if is_float else np.iinfo(str(x.dtype)).min
        return reduced(x, lowest, T.max)
    total = reduced(x, 0, T.sum)
    if mode == "sum":
        return total
    ones = T.ones_like(x)
    if mode == "average_inc_pad":
        ones = padded(ones, [(n, n) for n in pads], 1)
        borders = [(0, 0)] * count if ignore_border else borders
    return total / reduced(ones, 0, T.sum)


# ---- theano.tensor.signal ----


def conv2d(
    input: Any,
    filters: Any,
    image_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Any = (1, 1),
    **options: Any,
) -> Variable:
    """Each image with each filter: a matrix or a stack of images (n, rows, columns), and a matrix or a
    stack of filters. The result has an axis for each stack. The shapes have no effect."""
    x, w = as_tensor_variable(input), as_tensor_variable(filters)
    images = x if x.ndim == 3 else x.dimshuffle("x", 0, 1)
    kernels = w if w.ndim == 3 else w.dimshuffle("x", 0, 1)
    result = convolve(
        images.dimshuffle(0, "x", 1, 2), kernels.dimshuffle(0, "x", 1, 2), border_mode, subsample, True, 1
    )  # fmt: skip
    if w.ndim == 2:
        result = result[:, 0]
    return result if x.ndim == 3 else result[0]


def _pool(count: int, name: str) -> Any:
    def pool(
        input: Any,
        ws: Any = None,
        ignore_border: bool | None = None,
        stride: Any = None,
        pad: Any = None,
        mode: str = "max",
        ds: Any = None,
        st: Any = None,
        padding: Any = None,
    ) -> Variable:
        if ws is None and ds is None:
            raise ValueError(f"{name}: expected the size of the windows, ws")
        sizes = as_extents(ds if ws is None else ws, count, "ws")
        steps, pads = st if stride is None else stride, padding if pad is None else pad
        return _pooled(as_tensor_variable(input), sizes, bool(ignore_border), steps, pads, mode)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""Windows of extents `ws` along the last {count} axes of `input`, `stride` apart (by default
        `ws`), reduced by `mode`: "max", "sum", "average_inc_pad", which counts the `pad` elements
        around the input, or "average_exc_pad". Windows that leave the input are left out with
        ignore_border=True, else smaller."""
    return pool


pool_2d, pool_3d = _pool(2, "pool_2d"), _pool(3, "pool_3d")
