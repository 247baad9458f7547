# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions for index arrays and grids, and those that select or assign elements by masks and
choices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .elementwise import copyto_where
from .join import cycled
from .shape import broadcast_shapes, integers


def _to_numpy(x: Any) -> Any:
    """`x` with arrays of any device converted to NumPy arrays, also inside tuples and lists."""
    if isinstance(x, tuple | list):
        return type(x)(map(_to_numpy, x))
    return asarray(x).numpy() if hasattr(x, "shape") else x


def _device_of(x: Any) -> Any:
    """The device of an array, or of the first item of a sequence; None if that has no device."""
    first = x[0] if isinstance(x, tuple | list) and len(x) else x
    return asarray(first).device if hasattr(first, "shape") else None


def _on_device(values: Any, device: Any, dtype: Any = None) -> Any:
    """NumPy's result, an array or a tuple of arrays, copied to `device`."""
    if isinstance(values, tuple):
        return tuple(_on_device(part, device, dtype) for part in values)
    return _core.array(values, dtype, device=_core.device(device))


def ix_(*args: Any) -> tuple[Array, ...]:
    """Index arrays that select the cross product of the sequences, as numpy.ix_."""
    index_arrays = []
    for i, sequence in enumerate(args):
        array = asarray(sequence)
        if array.ndim != 1:
            raise _core.ArgumentError(f"ix_: cross index must be 1 dimensional, got {array.shape}")
        if array.size == 0:
            array = array.astype("int64")
        elif array.dtype == "bool":
            array = _core.nonzero(array)[0]
        index_arrays.append(array[tuple(slice(None) if k == i else None for k in range(len(args)))])
    return tuple(index_arrays)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """Flat indices as a tuple of coordinates in `shape`, as numpy.unravel_index. Those on a GPU are
    computed there; the call waits for a check of their range."""
    if _is_on_gpu(indices) and order in ("C", "F") and indices.dtype.kind in "iu":
        return coordinates_of(indices, integers(shape), order)
    import numpy as np

    coordinates: Any = np.unravel_index(_to_numpy(indices), shape, order)  # type: ignore[call-overload]
    return _on_device(coordinates, _device_of(indices))


def _is_on_gpu(x: Any) -> bool:
    return isinstance(x, Array) and x.device.kind == "cuda"


def coordinates_of(indices: Array, shape: tuple[int, ...], order: str) -> tuple[Array, ...]:
    """unravel_index() of an array of integers, on its device."""
    rest, size = indices.astype("int64", copy=False), prod(shape)
    if bool(((rest < 0) | (rest >= size)).any()):
        raise _core.ArgumentError(
            f"unravel_index: an index is out of bounds for array with size {size}"
        )
    coordinates = []
    for extent in shape[::-1] if order == "C" else shape:
        coordinates.append(rest % extent)
        rest = rest // extent
    return tuple(coordinates[::-1] if order == "C" else coordinates)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Coordinates in `dims` as flat indices, as numpy.ravel_multi_index. Those on a GPU are computed
    there; with mode="raise" the call waits for a check of their range."""
    coordinates = tuple(multi_index)
    modes = mode if isinstance(mode, tuple | list) else (mode,) * len(coordinates)
    if (
        all(_is_on_gpu(c) and c.dtype.kind in "iu" for c in coordinates)
        and order in ("C", "F")
        and {*modes} <= {"raise", "wrap", "clip"}
        and 0 < len(coordinates) == len(modes)
    ):
        return flat_indices_of(coordinates, integers(dims), modes, order)
    import numpy as np

    flat: Any = np.ravel_multi_index(_to_numpy(coordinates), dims, mode, order)  # type: ignore[call-overload]
    return _on_device(flat, _device_of(coordinates))


def flat_indices_of(
    coordinates: Sequence[Array], shape: tuple[int, ...], modes: Sequence[str], order: str
) -> Array:
    """ravel_multi_index() of arrays of integers, on their device."""
    if len(coordinates) != len(shape):
        raise _core.ArgumentError(
            f"ravel_multi_index: expected {len(shape)} arrays for dims {shape}, got {len(coordinates)}"
        )
    parts = list(
        zip((c.astype("int64", copy=False) for c in coordinates), shape, modes, strict=True)
    )
    flat: Any = 0
    for part, extent, mode in parts if order == "C" else parts[::-1]:
        if mode == "wrap":
            part = part % extent
        elif mode == "clip":
            part = _core._clip(part, 0, extent - 1)
        elif bool(((part < 0) | (part >= extent)).any()):
            raise _core.ArgumentError("ravel_multi_index: invalid entry in coordinates array")
        flat = flat * extent + part
    return flat  # type: ignore[no-any-return]


def indices(
    dimensions: Sequence[SupportsIndex],
    dtype: Any = int,
    sparse: bool = False,
    *,
    device: Any = None,
) -> Any:
    """The indices of a grid: an array of shape (rank, *dimensions), or with `sparse` a tuple of one
    broadcastable array per axis."""
    shape = tuple(map(operator.index, dimensions))
    on = _core.device(device)
    lines = [
        _core.arange(extent, dtype="int64", device=on)[
            tuple(slice(None) if k == axis else None for k in range(len(shape)))
        ]
        for axis, extent in enumerate(shape)
    ]
    if sparse:
        return tuple(line.astype(dtype, copy=False) for line in lines)
    grid = _core.empty((len(shape), *shape), dtype, device=on)
    for axis, line in enumerate(lines):
        grid[axis] = line
    return grid


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Coordinate arrays from coordinate vectors, as numpy.meshgrid; views with copy=False."""
    if indexing not in ("xy", "ij"):
        raise _core.ArgumentError(
            f"meshgrid: valid values for `indexing` are 'xy' and 'ij', got {indexing!r}"
        )
    rank = len(xi)
    views = []
    for i, x in enumerate(xi):
        axis = 1 - i if indexing == "xy" and i < 2 <= rank else i
        line = asarray(x).reshape(-1)
        views.append(line[tuple(slice(None) if k == axis else None for k in range(rank))])
    if not sparse:
        shape = broadcast_shapes(*(v.shape for v in views))
        views = [v.broadcast_to(shape) for v in views]
    return tuple(v.copy() for v in views) if copy else tuple(views)


class _Grid:
    """mgrid and ogrid: computed by NumPy and copied to the default device."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        """The grid over the ranges in `key`, one slice for each axis."""
        import numpy as np

        return _on_device((np.ogrid if self._sparse else np.mgrid)[key], None)


class _IndexExpression:
    """s_ and index_exp: ``s_[1:, 0]`` is the index itself."""

    def __init__(self, is_tuple: bool) -> None:
        self._is_tuple = is_tuple

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._is_tuple and not isinstance(key, tuple) else key


s_, index_exp = _IndexExpression(False), _IndexExpression(True)
mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)


# ---- Masks and choices ----


def extract(condition: Any, arr: Any) -> Array:
    """The elements of `arr` where `condition` is true, both flattened, as numpy.extract. A new
    vector."""
    return _core.compress(_mask(condition).reshape(-1), asarray(arr).reshape(-1))


def _mask(condition: Any) -> Array:
    return asarray(condition).astype("bool", copy=False)


def _masked(caller: str, arr: Any, mask: Any) -> tuple[Array, Array]:
    """The array `arr`, checked to be writable, and `mask` as a bool array of its shape on its device."""
    array = _core._output_array(arr, caller)
    selected = _mask(mask).to(array.device)
    if selected.size != array.size:
        raise _core.ArgumentError(
            f"{caller}: mask and data must be the same size, got shapes {selected.shape} and {array.shape}"
        )
    return array, selected.reshape(array.shape)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """arr[mask] = vals in place, with `vals` flattened and repeated, as numpy.place. Waits for the
    mask on a GPU. Raises ArgumentError for a mask of another size and for empty `vals`."""
    array, selected = _masked("place", arr, mask)
    count = int(_core.count_nonzero(selected))
    if count == 0:
        return
    values = _values_for(array, vals, "place").reshape(-1)
    if values.size == 0:
        raise _core.ArgumentError("place: cannot insert from an empty array")
    array[selected] = cycled(values, count)


def _values_for(array: Array, values: Any, caller: str) -> Array:
    """`values` as an Array on the device of `array`. Raises DTypeError for an array whose dtype
    does not cast safely to that of `array`, as NumPy."""
    source = asarray(values).to(array.device)
    is_array = hasattr(values, "dtype") and hasattr(values, "__setitem__")  # not a NumPy scalar
    if is_array and not _core.can_cast(source.dtype, array.dtype, "safe"):
        raise _core.DTypeError(
            f"{caller}: cannot cast values from {source.dtype} to {array.dtype} under casting='safe'; "
            f"cast them first: values.astype('{array.dtype}')"
        )
    return source


def putmask(a: Any, mask: Any, values: Any) -> None:
    """a.flat[i] = values.flat[i % values.size] for each i where `mask` is true, in place. Raises
    ArgumentError for a mask of another size."""
    array, selected = _masked("putmask", a, mask)
    source = _values_for(array, values, "putmask")
    if source.size == 0:
        return
    if source.size == 1:
        source = source.reshape(())
    else:
        source = cycled(source.reshape(-1), array.size).reshape(array.shape)
    copyto_where(array, source.astype(array.dtype, copy=False), "unsafe", selected)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """A new array: for each element the first choice whose condition is true, else `default`, as
    numpy.select. On the device of the first condition."""
    if len(condlist) != len(choicelist):
        raise _core.ArgumentError(
            "select: list of cases must be same length as list of conditions, "
            f"got {len(choicelist)} and {len(condlist)}"
        )
    if len(condlist) == 0:
        raise _core.ArgumentError("select: select with an empty condition list is not possible")
    conditions = [asarray(c) for c in condlist]
    for i, condition in enumerate(conditions):
        if condition.dtype != "bool":
            raise _core.DTypeError(
                f"select: invalid entry {i} in condlist: should be boolean ndarray, "
                f"got {condition.dtype}"
            )
    choices = [
        c if isinstance(c, Array) else asarray(c, device=conditions[0].device)
        for c in (*choicelist, default)
    ]
    # Python numbers do not widen the dtype.
    promoted = [
        c if isinstance(c, int | float | complex) else a
        for c, a in zip((*choicelist, default), choices, strict=True)
    ]
    shape = broadcast_shapes(*(a.shape for a in (*conditions, *choices)))
    result = _core.empty(shape, _core.result_type(*promoted), device=conditions[0].device)
    result[...] = choices[-1]
    for condition, choice in reversed(list(zip(conditions, choices, strict=False))):
        copyto_where(result, choice.astype(result.dtype, copy=False), "unsafe", condition)
    return result


def choose(
    a: Any, choices: Any, out: Any = None, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Array:
    """result[i] = choices[a[i]][i], as numpy.choose. With mode="raise" an out-of-range index raises
    ArgumentError."""
    indices = asarray(a)
    arrays = [asarray(c, device=indices.device) for c in choices]
    if not arrays:
        raise _core.ArgumentError("choose: need at least one array to choose from")
    shape = broadcast_shapes(indices.shape, *(c.shape for c in arrays))
    table = _core.stack([c.broadcast_to(shape) for c in arrays])
    count = len(arrays)
    # take() accepts negative indices, choose() does not: in "raise" mode the second half of the
    # table maps them to `count`, which is out of bounds in take_along_axis().
    rows = list(range(count)) + ([count] * count if mode == "raise" else [])
    table_of_rows = _core.array(rows, "int64", device=indices.device)
    try:
        choice = _core.take(table_of_rows, indices.astype("int64"), mode=mode)
        chosen = _core.take_along_axis(table, choice.broadcast_to(shape)[None], 0)[0]
    except _core.BoundsError as error:
        raise _core.ArgumentError(
            f"choose: invalid entry in choice array: expected 0 to {count - 1}; {error}"
        ) from None
    if out is None:
        return chosen
    _core.copyto(_core._output_array(out, "choose"), chosen)
    return asarray(out)
