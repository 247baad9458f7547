# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands, axes and shapes: how functions implemented in Python read their arguments, and NumPy's
functions that change shapes and axes, which return views where strides can express it.

Functions documented as views also take variables of graphs, and return new variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray, _operand

# ---- Operands and axes ----

#: Types of operands that become arrays on the device of the other operands.
_WITHOUT_DEVICE = (list, tuple, int, float, complex)
_KEPT_AT_FIRST = (Array, *_WITHOUT_DEVICE)


def as_arrays(*operands: Any, convert: Callable[[Any], Any] = asarray) -> list[Array]:
    """All operands as Arrays, those of other libraries by `convert`, without copies. Lists and numbers
    become arrays on the device of the first array."""
    for x in operands:
        if not isinstance(x, Array):
            break
    else:
        return list(operands)
    arrays = [x if isinstance(x, _KEPT_AT_FIRST) else convert(x) for x in operands]
    device = next((x.device for x in arrays if isinstance(x, Array)), None)
    return [asarray(x, device=device) if isinstance(x, _WITHOUT_DEVICE) else x for x in arrays]


def is_sequence(x: Any) -> bool:
    """Whether `x` is a sequence. An array of rank 0 is not, though it has __iter__."""
    return isinstance(x, Iterable) and getattr(x, "ndim", 1) != 0


def as_tuple(x: Any) -> tuple[Any, ...]:
    """The elements of a sequence, or (x,)."""
    return tuple(x) if is_sequence(x) else (x,)


def integers(x: Any) -> tuple[int, ...]:
    """`x`, one integer or a sequence of them, as a tuple. Raises TypeError for other values. Waits
    for an array on a GPU."""
    return tuple(map(operator.index, as_tuple(x)))


Axes = SupportsIndex | Sequence[SupportsIndex]
_BACKWARDS = slice(None, None, -1)


#: The most results that one call makes: each is a Python object.
MAX_RESULTS = 1 << 20


def checked_count(caller: str, value: SupportsIndex, maximum: int) -> int:
    """`value` as an integer. Raises ArgumentError unless it is from 0 to `maximum`."""
    count = operator.index(value)
    if not 0 <= count <= maximum:
        raise _core.ArgumentError(f"{caller}: expected from 0 to {maximum}, got {count}")
    return count


def normalized_axis(axis: SupportsIndex, rank: int, caller: str) -> int:
    """`axis` as an index >= 0. Raises AxisError for an out-of-range axis."""
    position = operator.index(axis)
    if not -rank <= position < rank:
        raise _core.AxisError(
            f"{caller}: axis {position} is out of bounds for array of dimension {rank}; "
            f"expected {-rank} to {rank - 1}"
        )
    return position % rank


def normalized_axes(axes: Axes, rank: int, caller: str) -> tuple[int, ...]:
    """One axis or several, as indices >= 0. Raises AxisError, and LayoutError for repeated axes."""
    normalized = tuple(normalized_axis(axis, rank, caller) for axis in as_tuple(axes))
    if len(set(normalized)) != len(normalized):
        raise _core.LayoutError(
            f"{caller}: repeated axis in {axes} for an array of {rank} dimensions"
        )
    return normalized


# ---- Permutations of axes ----


def transpose(a: Any, axes: Sequence[SupportsIndex] | None = None) -> Any:
    """View with the axes in the order `axes`, by default reversed."""
    return _operand(a).transpose(axes)


permute_dims = transpose  # the array API's name


def matrix_transpose(x: Any, /) -> Any:
    """View with the last two axes exchanged. Raises LayoutError for rank < 2."""
    array = _operand(x)
    if array.ndim < 2:
        raise _core.LayoutError(
            f"matrix_transpose: expected a 2-dimensional array, got shape {array.shape}"
        )
    return array.mT


def swapaxes(a: Any, axis1: SupportsIndex, axis2: SupportsIndex) -> Any:
    """View with two axes exchanged."""
    return _operand(a).swapaxes(axis1, axis2)


def moveaxis(a: Any, source: Axes, destination: Axes) -> Any:
    """View with the axes `source` at the positions `destination`, the others in their order."""
    array = _operand(a)
    sources = normalized_axes(source, array.ndim, "moveaxis")
    positions = normalized_axes(destination, array.ndim, "moveaxis")
    if len(sources) != len(positions):
        raise _core.ArgumentError(
            "moveaxis: `source` and `destination` arguments must have the same number of elements, "
            f"got {source} and {destination}"
        )
    order = [axis for axis in range(array.ndim) if axis not in sources]
    for position, axis in sorted(zip(positions, sources, strict=True)):
        order.insert(position, axis)
    return array.transpose(order)


def rollaxis(a: Any, axis: SupportsIndex, start: SupportsIndex = 0) -> Any:
    """View with `axis` moved before the axis `start`."""
    array = _operand(a)
    rank = array.ndim
    source = normalized_axis(axis, rank, "rollaxis")
    position = operator.index(start)
    if not -rank <= position <= rank:
        raise _core.AxisError(
            f"rollaxis: start {position} is out of bounds; expected {-rank} to {rank}"
        )
    position += rank if position < 0 else 0
    position -= 1 if source < position else 0
    return moveaxis(array, source, position)


# ---- Axes of extent 1 ----


def squeeze(a: Any, axis: Axes | None = None) -> Any:
    """View without the axes of extent 1, or without those in `axis`, which must have extent 1."""
    return _operand(a).squeeze(axis)


def expand_dims(a: Any, axis: Axes) -> Any:
    """View with new axes of extent 1 at the positions `axis` of the result."""
    array = _operand(a)
    if isinstance(axis, int):
        position = normalized_axis(axis, array.ndim + 1, "expand_dims")
        return array[(slice(None),) * position + (None,)]
    axes = as_tuple(axis)
    count = len(axes)
    positions = {*normalized_axes(axes, array.ndim + count, "expand_dims")}
    key = (None if i in positions else slice(None) for i in range(array.ndim + count))
    return array[(*key, ...)]  # with "...", indexing an array of rank 0 returns a view


def _at_least(arrays: tuple[Any, ...], add_axes: Any) -> Any:
    results = tuple(add_axes(_operand(x)) for x in arrays)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: Any) -> Any:
    """Views with at least one axis; a tuple for several arguments."""
    return _at_least(arys, lambda a: a.reshape(1) if a.ndim == 0 else a)


def atleast_2d(*arys: Any) -> Any:
    """Views with at least two axes; (n,) becomes (1, n). A tuple for several arguments."""
    return _at_least(arys, lambda a: a[(None,) * max(0, 2 - a.ndim)] if a.ndim < 2 else a)


def atleast_3d(*arys: Any) -> Any:
    """Views with at least three axes; (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1). A tuple for
    several arguments."""
    keys: dict[int, tuple[Any, ...]] = {  # rank -> index that inserts axes
        0: (None, None, None),
        1: (None, slice(None), None),
        2: (slice(None), slice(None), None),
    }
    return _at_least(arys, lambda a: a[keys[a.ndim]] if a.ndim < 3 else a)


# ---- Order of elements ----


def ravel(a: Any, order: Any = "C") -> Any:
    """A vector of the elements in `order`; a view where the strides allow it, else a copy."""
    return _operand(a).ravel(order)


def flip(m: Any, axis: Axes | None = None) -> Any:
    """View with the elements along `axis` reversed; along all axes by default."""
    array = _operand(m)
    if axis is None:
        return array[(*(_BACKWARDS,) * array.ndim, ...)]
    flipped = normalized_axes(axis, array.ndim, "flip")
    key = (_BACKWARDS if i in flipped else slice(None) for i in range(array.ndim))
    return array[(*key, ...)]


def _with_rank(a: Any, rank: int, caller: str) -> Any:
    array = _operand(a)
    if array.ndim < rank:
        raise _core.LayoutError(f"{caller}: input must be >= {rank}-d, got shape {array.shape}")
    return array


def fliplr(m: Any) -> Any:
    """View with the second axis reversed. Raises LayoutError for rank < 2."""
    return _with_rank(m, 2, "fliplr")[:, ::-1]


def flipud(m: Any) -> Any:
    """View with the first axis reversed. Raises LayoutError for rank 0."""
    return _with_rank(m, 1, "flipud")[::-1]


def rot90(m: Any, k: int = 1, axes: Sequence[SupportsIndex] = (0, 1)) -> Any:
    """View rotated `k` times by 90 degrees in the plane of `axes`, from the first axis to the
    second."""
    array = _operand(m)
    if len(axes) != 2:
        raise _core.ArgumentError(f"rot90: len(axes) must be 2, got {tuple(axes)}")
    first, second = normalized_axes(axes, array.ndim, "rot90")
    turns = k % 4
    if turns == 0:
        return array[...]
    if turns == 2:
        return flip(array, (first, second))
    if turns == 1:
        return flip(array, second).swapaxes(first, second)
    return flip(array.swapaxes(first, second), second)


# ---- Broadcasting ----


def broadcast_shapes(*args: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to. Raises LayoutError if there is none."""
    shapes = [integers(shape) for shape in args]
    rank = max((len(shape) for shape in shapes), default=0)
    common = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, rank - len(shape)):
            if extent not in (1, common[i]):
                if common[i] != 1:
                    raise _core.LayoutError(
                        "shape mismatch: objects cannot be broadcast to a single shape, got "
                        + " and ".join(map(str, shapes))
                    )
                common[i] = extent
    return tuple(common)


def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """The arrays broadcast to their common shape: views, or an array itself if it has that
    shape."""
    arrays = [asarray(x) for x in args]
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else a.broadcast_to(shape) for a in arrays)


def shape(a: Any) -> Any:
    """The shape of an array, or of what asarray() makes of `a`: a tuple; of a variable, its shape in
    the graph."""
    return _core._operand(a).shape


def ndim(a: Any) -> int:
    """The number of axes of `a`, as shape()."""
    return int(_core._operand(a).ndim)


def size(a: Any, axis: Any = None) -> Any:
    """The number of elements of `a`, or the extent of an axis."""
    x = _core._operand(a)
    return x.size if axis is None else x.shape[axis]


def copy(a: Any, order: str = "K") -> Array:
    """A new array with the elements of `a`, as numpy.copy."""
    return _core._asarray(a).copy(order)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of `x` is complex."""
    return bool(_core._operand(x).dtype.kind == "c")


def isrealobj(x: Any) -> bool:
    """Whether the dtype of `x` is not complex."""
    return not iscomplexobj(x)


# ---- numpy.lib.stride_tricks ----


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Array:
    """A view of the memory of `x` with any shape and strides, in bytes. Where elements share addresses
    it is read-only, as broadcast_to() is. Raises LayoutError for addresses outside of that memory."""
    x = asarray(x)
    shape = x.shape if shape is None else as_tuple(shape)
    view = _core._as_strided(x, shape, list(integers(x.strides if strides is None else strides)))
    if not writeable:
        view.flags.writeable = False
    return view  # type: ignore[no-any-return]


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """The windows of `x` as a read-only view, as numpy.lib.stride_tricks.sliding_window_view."""
    x = asarray(x)
    window = integers(window_shape)
    axes = (
        range(x.ndim)
        if axis is None
        else [normalized_axis(a, x.ndim, "axis") for a in as_tuple(axis)]
    )
    if len(window) != len(axes):
        raise _core.ArgumentError(
            f"sliding_window_view: expected an extent for each of the {len(axes)} axes, got window_shape={window_shape}"
        )
    shape = list(x.shape)
    for a, extent in zip(axes, window, strict=True):
        if not 0 <= extent <= shape[a]:
            raise _core.ArgumentError(
                f"sliding_window_view: expected window_shape from 0 to the extent {shape[a]} of axis {a}, got {extent}"
            )
        shape[a] -= extent - 1
    strides = [*x.strides, *(x.strides[a] for a in axes)]
    return as_strided(x, (*shape, *window), strides, writeable=False)


#: numpy.lib, as far as it is here.
lib = SimpleNamespace(
    stride_tricks=SimpleNamespace(as_strided=as_strided, sliding_window_view=sliding_window_view)
)
