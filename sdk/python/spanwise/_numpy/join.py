# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that make arrays of parts of others: join, split, insert, delete, roll, tile,
resize and pad."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray, _operand, concatenate
from .creation import as_ndarray
from .shape import (
    MAX_RESULTS,
    Axes,
    as_arrays,
    as_tuple,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    checked_count,
    integers,
    is_sequence,
    moveaxis,
    normalized_axis,
)


def _operand_list(arrays: Any, caller: str) -> list[Array]:
    """The arrays or variables to join. Raises BridgeError for an argument that is not iterable,
    ArgumentError for an empty one."""
    if not isinstance(arrays, Iterable):
        raise _core.BridgeError(
            f'{caller}: arrays to stack must be passed as a "sequence" type such as list or tuple, '
            f"got a {type(arrays).__name__}"
        )
    operands = as_arrays(*arrays, convert=_operand)
    if not operands:
        raise _core.ArgumentError(f"{caller}: need at least one array to concatenate")
    return operands


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Concatenates along the first axis; vectors are rows."""
    rows = [atleast_2d(a) for a in _operand_list(tup, "vstack")]
    return concatenate(rows, 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Concatenates along the second axis, vectors along their only axis."""
    arrays = [atleast_1d(a) for a in _operand_list(tup, "hstack")]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Array:
    """Concatenates along the third axis, after atleast_3d."""
    return concatenate([atleast_3d(a) for a in _operand_list(tup, "dstack")], 2)


def column_stack(tup: Any) -> Array:
    """Concatenates along the second axis; vectors are columns."""
    arrays = _operand_list(tup, "column_stack")
    return concatenate([a if a.ndim > 1 else atleast_1d(a)[:, None] for a in arrays], 1)


def append(arr: Any, values: Any, axis: SupportsIndex | None = None) -> Array:
    """A new array with `values` after `arr`; both flattened unless an axis is given."""
    array = asarray(arr)
    added = asarray(values, device=array.device)
    if axis is None:
        return concatenate((array.ravel(), added.ravel()))
    return concatenate((array, added), operator.index(axis))


concat = concatenate  # the array API's name


# ---- Splitting ----


def array_split(ary: Any, indices_or_sections: Any, axis: SupportsIndex = 0) -> list[Array]:
    """Views of parts of `ary` along `axis`: a number of parts, whose extents differ by at most 1,
    or split at the given indices, as numpy.array_split."""
    array = asarray(ary)
    axis = normalized_axis(axis, array.ndim, "array_split")
    extent = array.shape[axis]
    if is_sequence(indices_or_sections):
        bounds = [0, *(operator.index(i) for i in indices_or_sections), extent]
    else:
        parts = operator.index(indices_or_sections)
        checked_count("array_split: number of sections", max(parts, 0), MAX_RESULTS)
        if parts <= 0:
            raise _core.ArgumentError(
                f"array_split: number sections must be larger than 0, got {parts}"
            )
        part_extent, longer_parts = divmod(extent, parts)
        bounds = [part_extent * i + min(i, longer_parts) for i in range(parts + 1)]
    before = (slice(None),) * axis
    return [array[(*before, slice(a, b))] for a, b in pairwise(bounds)]


def split(ary: Any, indices_or_sections: Any, axis: SupportsIndex = 0) -> list[Array]:
    """As array_split; raises ArgumentError for a number of parts that does not divide the
    extent."""
    return _split(asarray(ary), indices_or_sections, axis, "split")


def _split(
    array: Array, sections: Any, axis: SupportsIndex, caller: str, rank: int = 0
) -> list[Array]:
    """split() of an array of `rank` or more dimensions."""
    if array.ndim < rank:
        raise _core.LayoutError(
            f"{caller}: only works on arrays of {rank} or more dimensions, got shape {array.shape}"
        )
    extent = array.shape[normalized_axis(axis, array.ndim, caller)]
    if not is_sequence(sections):
        parts = operator.index(sections)
        if parts <= 0 or extent % parts:
            raise _core.ArgumentError(
                f"{caller}: array split does not result in an equal division: {extent} elements along "
                f"axis {axis} of {array.shape} in {parts} parts; use array_split"
            )
    return array_split(array, sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split() along the second axis, of a vector along its only axis."""
    array = asarray(ary)
    return _split(array, indices_or_sections, 0 if array.ndim == 1 else 1, "hsplit", 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split() along the first axis, for arrays of at least two."""
    return _split(asarray(ary), indices_or_sections, 0, "vsplit", 2)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split() along the third axis."""
    return _split(asarray(ary), indices_or_sections, 2, "dsplit", 3)


def unstack(x: Any, /, *, axis: SupportsIndex = 0) -> tuple[Array, ...]:
    """The slices along `axis`, without that axis: views, but copies of the elements of a vector."""
    array = asarray(x)
    if array.ndim == 0:
        raise _core.LayoutError("unstack: input array must be at least 1-d, got shape ()")
    before = (slice(None),) * normalized_axis(axis, array.ndim, "unstack")
    return tuple(array[(*before, i)] for i in range(array.shape[len(before)]))


# ---- Insertion and deletion ----


def delete(arr: Any, obj: Any, axis: SupportsIndex | None = None) -> Array:
    """A new array without the slices `obj` (integers, a slice, a mask) along `axis`; without `axis`
    of the flattened array. As numpy.delete."""
    array, axis = _array_and_axis(arr, axis, "delete")
    extent, before = array.shape[axis], (slice(None),) * axis
    if type(obj) is int and -extent <= obj < extent:
        obj = slice(obj % extent, obj % extent + 1)
    if isinstance(obj, slice):
        start, stop, step = obj.indices(extent)
        if step == 1:  # what is left are two views
            rest = slice(max(start, stop), None)
            return concatenate([array[(*before, slice(start))], array[(*before, rest)]], axis)
    kept = _core.ones(array.shape[axis], "bool", device="cpu")
    kept[obj if isinstance(obj, slice) else _index_array(obj, array.shape[axis], "delete")] = False
    return _core.compress(kept, array, axis)


def insert(arr: Any, obj: Any, values: Any, axis: SupportsIndex | None = None) -> Array:
    """A new array with `values` inserted before the slices `obj` along `axis`; without `axis` into
    the flattened array. As numpy.insert."""
    array, axis = _array_and_axis(arr, axis, "insert")
    extent = array.shape[axis]
    if isinstance(obj, slice):
        positions, is_scalar = list(range(*obj.indices(extent))), False
    else:
        indices = _index_array(obj, None, "insert")
        if indices.ndim > 1:
            raise _core.ArgumentError(
                "insert: index array argument obj to insert must be one dimensional or scalar, "
                f"got shape {indices.shape}"
            )
        is_scalar = indices.ndim == 0
        if indices.dtype == "bool" and not is_scalar:
            indices = _core.nonzero(indices)[0]
        positions = [_position(int(i), extent, axis) for i in indices.reshape(-1).tolist()]
    added = asarray(values, array.dtype, device=array.device)
    if len(positions) == 1:
        added = added[(None,) * max(0, array.ndim - added.ndim)]
        # As NumPy: for a scalar obj the first axis of the values becomes `axis`, for a list it does
        # not.
        if is_scalar:
            added = moveaxis(added, 0, axis)
        return _insert_at(array, axis, positions[0], added)
    # Positions in the result: each is shifted by the number of slices inserted before it.
    for shift, i in enumerate(sorted(range(len(positions)), key=positions.__getitem__)):
        positions[i] += shift
    result = _empty_extended(array, axis, len(positions))
    before = (slice(None),) * axis
    is_old = _core.ones(result.shape[axis], "bool", device="cpu")
    new_indices = _core.array(positions, "int64", device="cpu")
    is_old[new_indices] = False
    result[(*before, new_indices)] = added
    result[(*before, is_old)] = array
    return result


def _empty_extended(array: Array, axis: int, count: int) -> Array:
    """An uninitialised array as `array`, with `count` more slices along `axis`."""
    shape = (*array.shape[:axis], array.shape[axis] + count, *array.shape[axis + 1 :])
    return _core.empty(shape, array.dtype, device=array.device)


def _insert_at(array: Array, axis: int, position: int, added: Array) -> Array:
    count = added.shape[axis]
    result = _empty_extended(array, axis, count)
    before = (slice(None),) * axis
    result[(*before, slice(position))] = array[(*before, slice(position))]
    result[(*before, slice(position, position + count))] = added
    result[(*before, slice(position + count, None))] = array[(*before, slice(position, None))]
    return result


def _array_and_axis(arr: Any, axis: SupportsIndex | None, caller: str) -> tuple[Array, int]:
    """`arr` as an array and the axis >= 0; without an axis the flattened array and 0."""
    array = asarray(arr)
    if axis is None:
        return array.ravel(), 0
    return array, normalized_axis(axis, array.ndim, caller)


def _index_array(obj: Any, extent: int | None, caller: str) -> Array:
    """`obj` as integers, or a mask of shape (extent,), on the host. Raises ArgumentError for a mask
    of another shape, BoundsError for another dtype."""
    indices = asarray(obj, device="cpu")
    if indices.size == 0 and isinstance(obj, list | tuple):
        return indices.astype("int64")
    if indices.dtype == "bool" and extent is not None and indices.shape != (extent,):
        raise _core.ArgumentError(
            f"{caller}: boolean array argument obj to {caller} must be one dimensional and match the "
            f"axis length of {extent}, got shape {indices.shape}"
        )
    if indices.dtype.kind not in "iub":
        raise _core.BoundsError(
            f"{caller}: arrays used as indices must be of integer (or boolean) type, got {indices.dtype}"
        )
    return indices


def _position(index: int, extent: int, axis: int) -> int:
    if not -extent <= index <= extent:
        raise _core.BoundsError(
            f"insert: index {index} is out of bounds for axis {axis} with size {extent}"
        )
    return index + extent if index < 0 else index


# ---- Rolling and tiling ----


def roll(a: Any, shift: Axes, axis: Axes | None = None) -> Array:
    """A new array with the elements shifted cyclically by `shift` along `axis`, of the flattened
    array by default, as numpy.roll."""
    array = asarray(a)
    if axis is None:
        return roll(array.reshape(-1), shift, 0).reshape(array.shape)
    if type(shift) is int and type(axis) is int and array.flags.c_contiguous and array.size:
        axis = normalized_axis(axis, array.ndim, "roll")
        before, first = (slice(None),) * axis, -shift % array.shape[axis]
        parts = array[(*before, slice(first, None))], array[(*before, slice(first))]
        return concatenate(parts, axis)
    shifts = integers(shift)
    # Repeated axes are allowed.
    axes = [normalized_axis(i, array.ndim, "roll") for i in as_tuple(axis)]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise _core.ArgumentError(
            f"roll: expected one shift, one axis, or as many shifts as axes, got {len(shifts)} shifts and {len(axes)} axes"
        )
    total = [0] * array.ndim
    for i in range(max(len(shifts), len(axes))):
        total[axes[i % len(axes)]] += shifts[i % len(shifts)]
    result = _core.empty_like(array)
    _roll_into(result, array, total, 0)
    return result


def _roll_into(result: Array, array: Array, shifts: list[int], axis: int) -> None:
    """Writes to `result` the elements of `array`, shifted along `axis` and the later axes."""
    while axis < array.ndim and (array.shape[axis] < 2 or shifts[axis] % array.shape[axis] == 0):
        axis += 1
    if axis == array.ndim:
        result[...] = array
        return
    before = (slice(None),) * axis
    shift = shifts[axis] % array.shape[axis]
    parts = ((slice(shift, None), slice(None, -shift)), (slice(shift), slice(-shift, None)))
    for target, source in parts:
        _roll_into(result[(*before, target)], array[(*before, source)], shifts, axis + 1)


def tile(A: Any, reps: Axes) -> Array:  # noqa: N803
    """A new array with `A` repeated reps[i] times along axis i, as numpy.tile."""
    array = asarray(A)
    if isinstance(reps, int) and array.ndim == 1 and reps > 0:
        line = _core.empty(array.size * reps, array.dtype, device=array.device)
        if line.size > 0:
            line.reshape(reps, array.size)[...] = array
        return line
    times = list(integers(reps))
    if min(times, default=0) < 0:
        raise _core.ArgumentError(
            f"tile: repeats may not contain negative values, got {tuple(times)}"
        )
    rank = max(array.ndim, len(times))
    times = [1] * (rank - len(times)) + times
    shape = (1,) * (rank - array.ndim) + array.shape
    result = _core.empty(
        tuple(n * t for n, t in zip(shape, times, strict=True)), array.dtype, device=array.device
    )
    # Each axis is split into (times, extent), so that one broadcast assignment makes all copies.
    split = tuple(part for n, t in zip(shape, times, strict=True) for part in (t, n))
    single = tuple(part for n in shape for part in (1, n))
    if result.size > 0:
        result.reshape(split, copy=False)[...] = array.reshape(single)
    return result


def cycled(values: Array, count: int) -> Array:
    """The first `count` elements of `values`, repeated as needed; one element is not repeated."""
    if values.size >= count:
        return values[:count]
    return values if values.size == 1 else tile(values, -(-count // values.size))[:count]


def resize(a: Any, new_shape: SupportsIndex | Sequence[SupportsIndex]) -> Array:
    """A new array of shape `new_shape` with the elements of `a` in C order, repeated as needed;
    zeros if `a` is empty. As numpy.resize."""
    array = asarray(a)
    shape = integers(new_shape)
    if min(shape, default=0) < 0:
        raise _core.LayoutError(
            f"resize: all elements of `new_shape` must be non-negative, got {shape}"
        )
    size = prod(shape)
    if size == 0 or array.size == 0:
        return _core.zeros(shape, array.dtype, device=array.device)
    line = array.reshape(-1)
    if size <= array.size:
        return line[:size].copy().reshape(shape)
    return tile(line, -(-size // array.size))[:size].reshape(shape)


# ---- Padding ----

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
