# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""numpy.pad."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from .. import _core
from .._core import Array, _asarray as asarray
from .creation import as_ndarray
from .operands import as_tuple, is_sequence

_Pairs = list[tuple[Any, Any]]


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Array:
    """A new array with pad_width[i] = (before, after) more elements along axis i, as numpy.pad.

    mode: "constant" (constant_values=0), "edge", "linear_ramp" (end_values=0), "reflect" and
    "symmetric" (reflect_type="even" only), "wrap", "maximum", "minimum", "mean" and "median" (of
    the stat_length nearest elements, by default all), or "empty", which leaves the border
    uninitialised. "linear_ramp" and "median" are computed on the host. Raises ArgumentError for
    other modes and options.
    """
    source = asarray(array)
    widths = _widths(pad_width, source.ndim)
    if mode not in (*_OPTIONS, "edge", "wrap", "empty"):
        raise _core.ArgumentError(
            f"pad: mode {mode!r} is not supported; expected constant, edge, linear_ramp, reflect, "
            "symmetric, wrap, maximum, mean, median, minimum or empty"
        )
    option, default = _OPTIONS.get(mode, ("", None))
    if unknown := set(kwargs) - {option}:
        raise _core.ArgumentError(
            f"pad: unsupported keyword arguments for mode {mode!r}: {unknown}"
        )
    value = kwargs.get(option, default)
    if option == "reflect_type" and value != "even":
        raise _core.ArgumentError(
            'pad: reflect_type="odd" is not supported; expected "even"; pad on the host: numpy.pad'
        )
    shape = tuple(n + a + b for n, (a, b) in zip(source.shape, widths, strict=True))
    result = _core.empty(shape, source.dtype, device=source.device)
    inside = tuple(slice(a, a + n) for n, (a, _) in zip(source.shape, widths, strict=True))
    result[inside] = source
    values = [] if option in ("", "reflect_type") else _pairs(value, source.ndim)
    for axis, (before, after) in enumerate(widths):
        if mode == "empty" or before + after == 0:
            continue
        # Earlier axes at their full padded extent, later axes without their padding.
        region = tuple(slice(None) if i < axis else inside[i] for i in range(source.ndim))
        padded = _PaddedAxis(result, region, axis, source.shape[axis], before, after)
        if padded.extent == 0 and mode != "constant":
            raise _core.ArgumentError(
                f"pad: can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
        if mode == "constant":
            padded.fill(*values[axis])
        elif mode == "linear_ramp":
            padded.ramp(*values[axis])
        elif mode in _STATISTICS:
            padded.fill_statistic(mode, *values[axis])
        else:
            padded.extend(_SOURCE_INDEX[mode])
    return result


class _PaddedAxis(NamedTuple):
    """One axis of the result of pad(): `before` elements of border, `extent` of the source, `after` of
    border. The methods write the border within `region`."""

    result: Array
    region: tuple[slice, ...]
    axis: int
    extent: int
    before: int
    after: int

    def part(self, along: slice) -> Array:
        """View of the slice `along` the axis of the result, within the region."""
        return self.result[(*self.region[: self.axis], along, *self.region[self.axis + 1 :])]

    def write(self, along: slice, value: Any) -> None:
        self.part(along)[...] = value

    def fill(self, first: Any, last: Any) -> None:
        """Fills the border before with `first`, the border after with `last`."""
        self.write(slice(0, self.before), first)
        self.write(slice(self.before + self.extent, None), last)

    def ramp(self, first: Any, last: Any) -> None:
        """Fills each side with equal steps from its end value to the edge, computed by NumPy on the
        host."""
        import numpy as np

        def steps(width: int, end: Any, edge: int) -> Any:
            stop = self.part(slice(edge, edge + 1)).numpy().squeeze(self.axis)
            return np.linspace(
                as_ndarray(end), stop, num=width, endpoint=False, dtype=stop.dtype, axis=self.axis
            )

        after = steps(self.after, last, self.before + self.extent - 1)
        self.fill(steps(self.before, first, self.before), np.flip(after, self.axis))

    def fill_statistic(self, mode: str, *lengths: int | None) -> None:
        """Fills each side with one statistic of the elements nearest to it."""
        values = []
        for side, length in enumerate(lengths):
            count = self.extent if length is None else min(operator.index(length), self.extent)
            if count < 1:
                raise _core.ArgumentError(
                    f"pad: stat_length of {count} yields no value for padding; expected 1 or more"
                )
            first = self.before + (self.extent - count if side else 0)
            value = _STATISTICS[mode](self.part(slice(first, first + count)), self.axis)
            is_rounded = self.result.dtype.kind in "iu" and value.dtype.kind == "f"
            values.append(_core.rint(value) if is_rounded else value)
        self.fill(*values)

    def extend(self, source_index: Callable[[int, int], int]) -> None:
        """Fills each index i of the border, relative to the source, with the source's element at
        source_index(i, extent)."""
        total = self.before + self.extent + self.after
        border = [*range(self.before), *range(self.before + self.extent, total)]
        inner = [self.before + source_index(i - self.before, self.extent) for i in border]
        for target, source in _runs(border, inner):
            self.write(target, self.part(source))


def _mirrored(i: int, extent: int, edges: int) -> int:
    """The index of the source's element at `i`, where the border has each edge element `edges` times."""
    period = max(2 * (extent - 1 + edges), 1)
    index = i % period
    return index if index < extent else period - edges - index


# Mode -> function of the index i relative to the source and the extent of the source: the index of the
# source's element at i.
_SOURCE_INDEX: dict[str, Callable[[int, int], int]] = {
    "edge": lambda i, extent: min(max(i, 0), extent - 1),
    "reflect": partial(_mirrored, edges=0),
    "symmetric": partial(_mirrored, edges=1),
    "wrap": lambda i, extent: i % extent,
}


def _median(values: Array, axis: int) -> Array:
    """The median along `axis`, computed by NumPy on the host: there is no sort on a GPU yet."""
    import numpy as np

    median = np.asarray(np.median(as_ndarray(values), axis=axis, keepdims=True))
    return _core._asarray(median, device=values.device)


_STATISTICS: dict[str, Callable[[Array, int], Array]] = {
    "maximum": lambda values, axis: _core.max(values, axis, keepdims=True),
    "minimum": lambda values, axis: _core.min(values, axis, keepdims=True),
    "mean": lambda values, axis: _core.mean(values, axis, keepdims=True),
    "median": _median,
}
#: Mode -> the name of its option, and the value by default.
_OPTIONS: dict[str, tuple[str, Any]] = {
    "constant": ("constant_values", 0),
    "linear_ramp": ("end_values", 0),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type", "even")),
    **dict.fromkeys(_STATISTICS, ("stat_length", None)),
}


def _runs(border: list[int], inner: list[int]) -> Iterable[tuple[slice, slice]]:
    """Groups the pairs (border, inner) into slice assignments: runs of consecutive border indices
    whose inner indices have a constant step of -1, 0 or 1."""
    start = 0
    while start < len(border):
        end, step = start + 1, 0
        if end < len(border) and border[end] == border[start] + 1:
            step = inner[end] - inner[start]
        while (
            end < len(border)
            and border[end] == border[end - 1] + 1
            and step in (-1, 0, 1)
            and inner[end] - inner[end - 1] == step
        ):
            end += 1
        first, last = inner[start], inner[end - 1]
        if step == 0 or end == start + 1:
            source = slice(first, first + 1)
        elif step == 1:
            source = slice(first, last + 1)
        else:
            source = slice(first, last - 1 if last > 0 else None, -1)
        yield slice(border[start], border[end - 1] + 1), source
        start = end


def _widths(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        widths: list[Any] = [(0, 0)] * rank
        for axis, width in pad_width.items():
            widths[axis] = tuple(width) if is_sequence(width) else (width, width)
        pad_width = widths
    pairs = [(operator.index(a), operator.index(b)) for a, b in _pairs(pad_width, rank)]
    if any(width < 0 for pair in pairs for width in pair):
        raise _core.ArgumentError(f"pad: index can't contain negative values, got {pairs}")
    return pairs


def _pairs(value: Any, rank: int) -> _Pairs:
    """v, (v,), (before, after), ((before, after),) or one pair per axis, as one pair per axis.
    Raises ArgumentError."""
    values = as_tuple(value)
    if not any(map(is_sequence, values)):
        if len(values) in (1, 2):
            return [(values[0], values[-1])] * rank
    else:
        pairs = [tuple(x) for x in values]
        pairs = [p if len(p) == 2 else p * 2 for p in pairs]
        if all(len(p) == 2 for p in pairs) and len(pairs) in (1, rank):
            return [(p[0], p[1]) for p in (pairs * rank if len(pairs) == 1 else pairs)]
    raise _core.ArgumentError(
        f"pad: operands could not be broadcast together: expected a number, a pair, or a pair for "
        f"each of the {rank} axes, got {value!r}"
    )
