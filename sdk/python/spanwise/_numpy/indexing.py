# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions for index arrays and grids."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import broadcast_shapes


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
    """Flat indices as a tuple of coordinates in `shape`, as numpy.unravel_index. Computed by NumPy
    on the host; results are on the device of `indices`."""
    import numpy as np

    coordinates: Any = np.unravel_index(_to_numpy(indices), shape, order)  # type: ignore[call-overload]
    return _on_device(coordinates, _device_of(indices))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Coordinates in `dims` as flat indices, as numpy.ravel_multi_index. Computed by NumPy on the
    host; the result is on the device of the first coordinate array."""
    import numpy as np

    coordinates = tuple(multi_index)
    flat: Any = np.ravel_multi_index(_to_numpy(coordinates), dims, mode, order)  # type: ignore[call-overload]
    return _on_device(flat, _device_of(coordinates))


def indices(
    dimensions: Sequence[SupportsIndex],
    dtype: Any = int,
    sparse: bool = False,
    *,
    device: Any = None,
) -> Any:
    """The indices of a grid: an array of shape (rank, *dimensions), or with `sparse` a tuple of one
    broadcastable array per axis."""
    import numpy as np

    grid: Any = np.indices(tuple(map(operator.index, dimensions)), np.int64, sparse)  # type: ignore[call-overload]
    return _on_device(grid, device, dtype)


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


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
