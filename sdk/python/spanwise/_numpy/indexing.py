# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions for masks, indices, diagonals and grids."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .shape import broadcast_shapes


def _writable(a: Any, who: str) -> Array:
    """`a`, an array of any library, as an Array over the same memory. Raises ReadOnlyError."""
    array = asarray(a, copy=False)
    if not array.flags.writeable:
        raise _core.ReadOnlyError(
            f"{who}: assignment destination is read-only, {array.dtype} {array.shape}; "
            "write to a copy: a.copy()"
        )
    return array


# ---- Masks ----


def extract(condition: Any, arr: Any) -> Array:
    """The elements of `arr` where `condition` is true, both flattened, as numpy.extract. A new
    vector."""
    return _core.compress(_mask(condition).reshape(-1), asarray(arr).reshape(-1))


def _mask(condition: Any, device: Any = None) -> Array:
    mask = asarray(condition, device=device)
    return mask if mask.dtype == "bool" else mask.astype("bool")


def place(arr: Any, mask: Any, vals: Any) -> None:
    """arr[mask] = vals in place, with `vals` flattened and repeated, as numpy.place. Waits for the
    mask on a GPU. Raises ArgumentError for a mask of another size and for empty `vals`."""
    array = _writable(arr, "place")
    chosen = _mask(mask)
    if chosen.size != array.size:
        raise _core.ArgumentError(
            "place: mask and data must be the same size, got shapes "
            f"{chosen.shape} and {array.shape}"
        )
    chosen = chosen.reshape(array.shape)
    count = int(_core.count_nonzero(chosen))
    if count == 0:
        return
    values = _values_for(array, vals, "place").reshape(-1)
    if values.size == 0:
        raise _core.ArgumentError("place: cannot insert from an empty array")
    array[chosen] = _cycled(values, count)


def _values_for(array: Array, values: Any, who: str) -> Array:
    """`values` as an Array on the device of `array`. Raises DTypeError for an array whose dtype
    does not cast safely to that of `array`, as NumPy."""
    given = asarray(values, device=array.device)
    is_array = hasattr(values, "dtype") and hasattr(values, "__setitem__")  # not a NumPy scalar
    if is_array and not _core.can_cast(given.dtype, array.dtype, "safe"):
        raise _core.DTypeError(
            f"{who}: cannot cast values from {given.dtype} to {array.dtype} under casting='safe'; "
            f"cast them first: values.astype('{array.dtype}')"
        )
    return given


def _cycled(values: Array, count: int) -> Array:
    if values.size >= count:
        return values[:count]
    if values.size == 1:
        return values
    from .shape import tile

    return tile(values, -(-count // values.size))[:count]


def putmask(a: Any, mask: Any, values: Any) -> None:
    """a.flat[i] = values.flat[i % values.size] for each i where `mask` is true, in place. Raises
    ArgumentError for a mask of another size."""
    array = _writable(a, "putmask")
    chosen = _mask(mask)
    if chosen.size != array.size:
        raise _core.ArgumentError(
            f"putmask: mask and data must be the same size, got shapes {chosen.shape} and {array.shape}"
        )
    chosen = chosen.reshape(array.shape)
    given = _values_for(array, values, "putmask")
    if given.size == 0:
        return
    if given.size == 1:
        array[chosen] = given.reshape(())
        return
    whole = _cycled(given.reshape(-1), array.size).reshape(array.shape)
    array[chosen] = whole[chosen]


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
    weak = [
        c if isinstance(c, int | float | complex) else a
        for c, a in zip((*choicelist, default), choices, strict=True)
    ]
    shape = broadcast_shapes(*(a.shape for a in (*conditions, *choices)))
    result = _core.empty(shape, _core.result_type(*weak), device=conditions[0].device)
    result[...] = choices[-1]
    for condition, choice in reversed(list(zip(conditions, choices, strict=False))):
        mask = condition.broadcast_to(shape)
        result[mask] = choice if choice.ndim == 0 else choice.broadcast_to(shape)[mask]
    return result


def choose(
    a: Any, choices: Any, out: Any = None, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Array:
    """result[i] = choices[a[i]][i], as numpy.choose. With mode="raise" an index outside raises
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
        places = _core.take(table_of_rows, indices.astype("int64"), mode=mode)
        chosen = _core.take_along_axis(table, places.broadcast_to(shape)[None], 0)[0]
    except _core.BoundsError as error:
        raise _core.ArgumentError(
            f"choose: invalid entry in choice array: expected 0 to {count - 1}; {error}"
        ) from None
    if out is None:
        return chosen
    _core.copyto(_writable(out, "choose"), chosen)
    return asarray(out)


# ---- Indices ----


def _on_host(x: Any) -> Any:
    """`x` with arrays of any device converted to NumPy arrays, also inside tuples and lists."""
    if isinstance(x, tuple | list):
        return type(x)(_on_host(part) for part in x)
    return asarray(x).numpy() if hasattr(x, "shape") else x


def _home_of(x: Any, device: Any = None) -> Any:
    if device is not None:
        return device
    first = x[0] if isinstance(x, tuple | list) and len(x) else x
    return asarray(first).device if hasattr(first, "shape") else None


def _moved(values: Any, device: Any) -> Any:
    if isinstance(values, tuple):
        return tuple(_core.array(v, device=_core.device(device)) for v in values)
    return _core.array(values, device=_core.device(device))


def ix_(*args: Any) -> tuple[Array, ...]:
    """Index arrays that select the cross product of the sequences, as numpy.ix_."""
    found = []
    for i, sequence in enumerate(args):
        array = asarray(sequence)
        if array.ndim != 1:
            raise _core.ArgumentError(f"ix_: cross index must be 1 dimensional, got {array.shape}")
        if array.size == 0:
            array = array.astype("int64")
        if array.dtype == "bool":
            array = _core.nonzero(array)[0]
        found.append(array[tuple(slice(None) if k == i else None for k in range(len(args)))])
    return tuple(found)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """Flat indices as a tuple of coordinates in `shape`, as numpy.unravel_index. Computed by NumPy
    on the host; results are on the device of `indices`."""
    import numpy as np

    found: Any = np.unravel_index(_on_host(indices), shape, order)  # type: ignore[call-overload]
    return tuple(_moved(tuple(np.asarray(part) for part in found), _home_of(indices)))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Coordinates in `dims` as flat indices, as numpy.ravel_multi_index. Computed by NumPy on the
    host; the result is on the device of the first coordinate array."""
    import numpy as np

    found: Any = np.ravel_multi_index(_on_host(tuple(multi_index)), dims, mode, order)  # type: ignore[call-overload]
    return asarray(_moved(np.asarray(found), _home_of(tuple(multi_index))))


# ---- Diagonals and triangles ----


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """View of the diagonals of two axes, along the last axis of the result; writeable if `a` is
    (unlike NumPy's)."""
    return asarray(a).diagonal(offset, axis1, axis2)


def diag(v: Any, k: int = 0) -> Array:
    """The k-th diagonal of a matrix, as a view; for a vector a new matrix with it on the k-th
    diagonal. Raises LayoutError for other ranks."""
    array = asarray(v)
    if array.ndim == 2:
        return array.diagonal(k)
    if array.ndim != 1:
        raise _core.LayoutError(f"diag: input must be 1- or 2-d, got shape {array.shape}")
    return diagflat(array, k)


def diagflat(v: Any, k: int = 0) -> Array:
    """A new matrix with the flattened `v` on its k-th diagonal."""
    line = asarray(v).ravel()
    side = line.size + abs(k)
    matrix = _core.zeros((side, side), line.dtype, device=line.device)
    if line.size:
        matrix.diagonal(k)[...] = line
    return matrix


def tri(
    N: int,  # noqa: N803
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An (N, M) matrix of ones on and below the k-th diagonal, zeros above; float64 by default."""
    import numpy as np

    rows = operator.index(N)
    columns = rows if M is None else operator.index(M)
    ones = np.tri(rows, columns, operator.index(k), dtype=bool)
    wanted = _core.dtype("float64" if dtype is None else dtype)
    return _core.array(ones, wanted, device=_core.device(device))


def _without(m: Any, k: int, lower: bool, who: str) -> Array:
    array = asarray(m)
    if array.ndim == 0:
        raise _core.LayoutError(f"{who}: expected an array of 1 dimension at least, got shape ()")
    square = array if array.ndim > 1 else array.broadcast_to((array.size, array.size))
    import numpy as np

    rows, columns = square.shape[-2:]
    diagonal = operator.index(k) - (not lower)
    triangle = np.tri(rows, columns, diagonal, dtype=bool)
    result = square.copy()
    mask = _core._asarray(~triangle if lower else triangle, device=array.device)
    result[..., mask] = 0
    return result


def tril(m: Any, k: int = 0) -> Array:
    """A copy with zeros above the k-th diagonal of the last two axes."""
    return _without(m, k, True, "tril")


def triu(m: Any, k: int = 0) -> Array:
    """A copy with zeros below the k-th diagonal of the last two axes."""
    return _without(m, k, False, "triu")


def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, device: Any = None
) -> tuple[Array, ...]:
    """The indices of the lower triangle of an (n, m) matrix."""
    return _core.nonzero(tri(n, m, k, bool, device=device))


def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, device: Any = None
) -> tuple[Array, ...]:
    """The indices of the upper triangle of an (n, m) matrix."""
    import numpy as np

    mask = ~np.tri(n, m, operator.index(k) - 1, dtype=bool)
    return _core.nonzero(_core.array(mask, device=_core.device(device)))


def _matrix(arr: Any, who: str) -> Array:
    array = asarray(arr)
    if array.ndim != 2:
        raise _core.LayoutError(f"{who}: input array must be 2-d, got shape {array.shape}")
    return array


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The indices of the lower triangle of the matrix `arr`."""
    a = _matrix(arr, "tril_indices_from")
    return tril_indices(a.shape[0], k, a.shape[1], device=a.device)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The indices of the upper triangle of the matrix `arr`."""
    a = _matrix(arr, "triu_indices_from")
    return triu_indices(a.shape[0], k, a.shape[1], device=a.device)


def diag_indices(n: int, ndim: int = 2, *, device: Any = None) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of `ndim` axes of extent `n`."""
    line = _core.array(list(range(operator.index(n))), "int64", device=_core.device(device))
    return (line,) * ndim


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """a[i, i, ...] = val for each i, in place, as numpy.fill_diagonal; with `wrap` the diagonal
    starts again in the rows of a tall matrix below it. Raises LayoutError for a vector, or for more
    than two axes of different extents."""
    array = _writable(a, "fill_diagonal")
    if array.ndim < 2:
        raise _core.LayoutError(
            f"fill_diagonal: array must be at least 2-d, got shape {array.shape}"
        )
    if array.ndim > 2 and len(set(array.shape)) > 1:
        raise _core.LayoutError(
            f"fill_diagonal: all dimensions of input must be of equal length, got {array.shape}"
        )
    values = asarray(val, device=array.device).reshape(-1)
    if array.ndim == 2 and wrap:
        places = list(range(0, array.size, array.shape[1] + 1))
        _core.put(array, places, values)
        return
    count = min(array.shape)
    line = array
    for _ in range(array.ndim - 1):
        line = line.diagonal(0, 0, 1) if line.ndim == 2 else _diagonal_of_first(line)
    if count and values.size:
        line[...] = _cycled(values, count)


def _diagonal_of_first(array: Array) -> Array:
    """View with the first two axes replaced by their diagonal, as the first axis."""
    view = array.diagonal(0, 0, 1)
    return view.transpose((view.ndim - 1, *range(view.ndim - 1)))


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
    wanted = _core.dtype(dtype)
    if sparse:
        return tuple(_core.array(g, wanted, device=_core.device(device)) for g in grid)
    return _core.array(grid, wanted, device=_core.device(device))


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

        found: Any = (np.ogrid if self._sparse else np.mgrid)[key]
        return _moved(found, None)


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
