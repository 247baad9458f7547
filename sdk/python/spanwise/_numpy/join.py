# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that join, split, insert and delete, on top of concatenate."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray, _operand, concatenate
from .operands import as_arrays, is_sequence
from .shape import atleast_1d, atleast_2d, atleast_3d, moveaxis, normalized_axis


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
