# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling in any number of spatial dimensions: windows of the input become an axis, over
which a product or a reduction goes. Extents may be unknown until the function runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise import GraphError
from spanwise.gradient import DisconnectedType
from spanwise.graph import Variable

from .._ops import ArrayOp, tensor_of
from .basic import as_tensor_variable

Pads = Sequence[tuple[Any, Any]]


def as_extents(x: Any, count: int, name: str) -> tuple[Any, ...]:
    """One number for each spatial dimension: of a sequence or a vector of them, or the same for all."""
    if getattr(x, "ndim", 0) == 1:
        x = [x[i] for i in range(count)]
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


#: Bytes of windows that one product reads at a time: few enough for the CPU's caches, enough for threads.
_CHUNK = {"cpu": 1 << 22, "cuda": 1 << 27}


class Convolution(NamedTuple):
    """The settings of a convolution of inputs (batch, channels, *space) with filters (outputs, channels /
    groups, *space), and of its derivatives; without `flip` it is the correlation.

    Windows of a part of the batch are copied into a matrix, one product of which with the filters gives
    that part of the result, on all devices.
    """

    border_mode: Any
    steps: tuple[int, ...]
    dilations: tuple[int, ...]
    flip: bool
    groups: int

    def of(self, x: Any, w: Any) -> Variable:
        """The convolution of the inputs `x` with the filters `w`."""
        return self._op("Convolution", self._forward, self._slopes)(x, w)

    def of_inputs(self, w: Any, top: Any, shape: Any) -> Variable:
        """The derivative with respect to inputs of `shape`, a vector, where `top` is that of the result."""

        def slopes(inputs: Any, outputs: Any, given: Any) -> Any:
            w, top, _ = inputs
            return [
                self.of_filters(given[0], top, w.shape),
                self.of(given[0], w),
                DisconnectedType()(),
            ]

        return self._op("ConvolutionOfInputs", self._to_inputs, slopes)(w, top, shape)

    def of_filters(self, x: Any, top: Any, shape: Any) -> Variable:
        """The derivative with respect to filters of `shape`, a vector, where `top` is that of the result."""

        def slopes(inputs: Any, outputs: Any, given: Any) -> Any:
            x, top, _ = inputs
            return [
                self.of_inputs(given[0], top, x.shape),
                self.of(x, given[0]),
                DisconnectedType()(),
            ]

        return self._op("ConvolutionOfFilters", self._to_filters, slopes)(x, top, shape)

    def _slopes(self, inputs: Any, outputs: Any, given: Any) -> Any:
        x, w = inputs
        return [self.of_inputs(w, given[0], x.shape), self.of_filters(x, given[0], w.shape)]

    def _op(self, name: str, function: Any, slopes: Any) -> ArrayOp:
        return ArrayOp(name, function, self._type, slopes, self)

    def _type(self, *inputs: Variable) -> Any:
        first, second = inputs[:2]
        dtype = np.promote_types(str(first.dtype), str(second.dtype))
        return tensor_of(str(dtype), len(self.steps) + 2, first)

    # ---- When the program runs ----

    def _extents(self, space: Sequence[int], sizes: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
        """(the zeros at the ends of each spatial axis, the extents of the result)."""
        pads = pads_of(self.border_mode, sizes, self.dilations)
        counts = []
        for n, (before, after), size, step, dilation in zip(
            space, pads, sizes, self.steps, self.dilations, strict=True
        ):
            counts.append((n + before + after - (size - 1) * dilation - 1) // step + 1)
        if min(counts) <= 0 and min(space) > 0:
            raise ValueError(
                f"convolution: filters of {tuple(sizes)} with border_mode {self.border_mode!r} do not fit "
                f"into images of {tuple(space)}"
            )
        return pads, tuple(max(n, 0) for n in counts)

    def _places(self, sizes: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """(the element of the filters, the elements of the padded inputs that it meets) for each."""
        for place in itertools.product(*map(range, sizes)):
            met = tuple(
                slice(k * d, k * d + (n - 1) * s + 1, s)
                for k, d, n, s in zip(place, self.dilations, counts, self.steps, strict=True)
            )
            yield place, (Ellipsis, *met)

    def _chunks(self, x: Any, inner: int, counts: Sequence[int]) -> Iterator[slice]:
        each = max(inner * math.prod(counts) * x.dtype.itemsize, 1)
        size = max(_CHUNK.get(x.device.kind, 1 << 22) // each, 1)
        return (slice(i, i + size) for i in range(0, x.shape[0], size))

    def _matrix(self, w: Any) -> Any:
        """The filters as (groups, outputs of each, elements of each)."""
        if self.flip:
            w = w[(..., *[slice(None, None, -1)] * len(self.steps))]
        return w.reshape((self.groups, w.shape[0] // self.groups, math.prod(w.shape[1:])))

    def _check(self, channels: int, shape: Sequence[int]) -> None:
        if channels != shape[1] * self.groups or shape[0] % self.groups:
            raise ValueError(
                f"convolution: images of {channels} channels need filters of {channels // self.groups} in a "
                f"multiple of {self.groups} outputs, got filters of shape {tuple(shape)}"
            )

    def _windows(self, x: Any, sizes: Sequence[int], counts: Sequence[int]) -> Any:
        """The windows of padded inputs as (groups, elements of a filter, windows)."""
        x = x.swapaxes(0, 1)
        result = sw.empty((x.shape[0], *sizes, x.shape[1], *counts), x.dtype, device=x.device)
        for place, met in self._places(sizes, counts):
            result[(slice(None), *place)] = x[met]
        inner = x.shape[0] // self.groups * math.prod(sizes)
        return result.reshape((self.groups, inner, x.shape[1] * math.prod(counts)))

    def _forward(self, x: Any, w: Any) -> Any:
        self._check(x.shape[1], w.shape)
        x, w = _same_dtype(x, w)
        sizes = w.shape[2:]
        pads, counts = self._extents(x.shape[2:], sizes)
        x, matrix = _with_zeros(x, pads), self._matrix(w)
        result = sw.empty((x.shape[0], w.shape[0], *counts), x.dtype, device=x.device)
        for chunk in self._chunks(x, x.shape[1] * math.prod(sizes), counts):
            products = sw.matmul(matrix, self._windows(x[chunk], sizes, counts))
            part = result[chunk].swapaxes(0, 1)
            part[...] = products.reshape(part.shape)
        return result

    def _to_inputs(self, w: Any, top: Any, shape: Any) -> Any:
        shape = tuple(int(n) for n in shape.numpy())
        self._check(shape[1], w.shape)
        w, top = _same_dtype(w, top)
        sizes = w.shape[2:]
        pads, counts = self._extents(shape[2:], sizes)
        self._check_top(top, (shape[0], w.shape[0], *counts))
        outer = [n + sum(pair) for n, pair in zip(shape[2:], pads, strict=True)]
        result = sw.zeros((*shape[:2], *outer), w.dtype, device=w.device)
        matrix = self._matrix(w).swapaxes(1, 2)
        for chunk in self._chunks(top, shape[1] * math.prod(sizes), counts):
            part, given = result[chunk].swapaxes(0, 1), self._rows(top[chunk])
            products = sw.matmul(matrix, given).reshape((shape[1], *sizes, part.shape[1], *counts))
            for place, met in self._places(sizes, counts):
                part[met] += products[(slice(None), *place)]
        inside = tuple(slice(p[0], p[0] + n) for n, p in zip(shape[2:], pads, strict=True))
        return result[(..., *inside)]

    def _to_filters(self, x: Any, top: Any, shape: Any) -> Any:
        shape = tuple(int(n) for n in shape.numpy())
        self._check(x.shape[1], shape)
        x, top = _same_dtype(x, top)
        sizes = shape[2:]
        pads, counts = self._extents(x.shape[2:], sizes)
        self._check_top(top, (x.shape[0], shape[0], *counts))
        x = _with_zeros(x, pads)
        result = sw.zeros(shape, x.dtype, device=x.device)
        matrix = result.reshape((self.groups, shape[0] // self.groups, math.prod(shape[1:])))
        for chunk in self._chunks(x, x.shape[1] * math.prod(sizes), counts):
            parts = self._windows(x[chunk], sizes, counts)
            matrix += sw.matmul(self._rows(top[chunk]), parts.swapaxes(1, 2))
        return result[(..., *[slice(None, None, -1)] * len(sizes))] if self.flip else result

    def _rows(self, top: Any) -> Any:
        """A derivative of the result as (groups, outputs of each, windows)."""
        outputs = top.shape[1]
        places = top.shape[0] * math.prod(top.shape[2:])
        return top.swapaxes(0, 1).reshape((self.groups, outputs // self.groups, places))

    def _check_top(self, top: Any, shape: tuple[int, ...]) -> None:
        if top.shape != shape:
            raise ValueError(
                f"convolution: expected a derivative of shape {shape}, got {top.shape}; check the shape of "
                "the images or filters that was passed"
            )


def _same_dtype(a: Any, b: Any) -> tuple[Any, Any]:
    dtype = sw.result_type(a.dtype, b.dtype)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def _with_zeros(x: Any, pads: Pads) -> Any:
    """The array `x` with (before, after) zeros at the ends of each spatial axis."""
    if not any(map(any, pads)):
        return x
    outer = [n + sum(pair) for n, pair in zip(x.shape[2:], pads, strict=True)]
    result = sw.zeros((*x.shape[:2], *outer), x.dtype, device=x.device)
    inside = tuple(slice(p[0], p[0] + n) for n, p in zip(x.shape[2:], pads, strict=True))
    result[(..., *inside)] = x
    return result


def settings_of(
    count: int, border_mode: Any, steps: Any, filter_flip: bool, dilations: Any, groups: int = 1
) -> Convolution:
    """Those of a convolution in `count` spatial dimensions. Raises ValueError for others than those that
    conv2d() names."""
    steps, dilations = (
        tuple(int(k) for k in as_extents(1 if n is None else n, count, "convolution"))
        for n in (steps, dilations)
    )
    if min(*steps, *dilations) < 1:
        raise ValueError(
            f"convolution: expected steps and dilations of 1 or more, got {steps} and {dilations}"
        )
    if not isinstance(border_mode, str):
        entries = as_extents(border_mode, count, "border_mode")
        border_mode = tuple(tuple(n) if isinstance(n, (tuple, list)) else int(n) for n in entries)
    pads_of(border_mode, (1,) * count, dilations)
    return Convolution(border_mode, steps, dilations, bool(filter_flip), int(groups))


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
    return settings_of(count, border_mode, steps, filter_flip, dilations, groups).of(x, filters)


def pads_of(border_mode: Any, sizes: Sequence[Any], dilations: Sequence[Any]) -> Pads:
    """The zeros at the ends of each spatial axis, for filters of `sizes`."""
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
