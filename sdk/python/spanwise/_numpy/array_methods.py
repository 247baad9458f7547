# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of Array that are implemented in Python: repr and str in NumPy's format with the device
added, setflags, tobytes; and the function that pickles of arrays refer to."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .. import _core
from .._core import Array

# As NumPy, which prints no dtype= for the dtypes of its literals.
_IMPLIED = (_core.bool, _core.int64, _core.float64, _core.complex128)


def array_repr(array: _core.Array) -> str:
    """``array([1., 2.], dtype=float32, device='cpu')``."""
    import numpy as np

    values, summary = _values_of(array, np)
    if values is None:
        return f"<{_description(array)}>"
    if array.size == 0:
        body = "[]"
    else:
        body = np.array2string(values, separator=", ", prefix="array(", suffix=")", **summary)
    notes = []
    if summary or (array.size == 0 and array.shape != (0,)):
        notes.append(f"shape={array.shape}")
    if array.dtype not in _IMPLIED or array.size == 0:
        notes.append(f"dtype={array.dtype}")
    notes.append(f"device='{array.device}'")
    text, tail = f"array({body},", ", ".join(notes) + ")"
    last_line = len(text) - (text.rfind("\n") + 1)
    fits = last_line + 1 + len(tail) <= np.get_printoptions()["linewidth"]
    return text + (" " if fits else "\n" + " " * len("array(")) + tail


def _repr_html_(array: _core.Array) -> str:
    """The array in a notebook: a table of its elements, of large ones the first and last rows and
    columns, under its shape, dtype and device."""
    from html import escape

    import numpy as np

    head = f"{array.dtype} array of shape {array.shape} on {array.device}"
    edge, table = 5, None
    if array.ndim in (1, 2) and array.size:
        with contextlib.suppress(_core.DTypeError):
            table = np.atleast_2d(_corners(_for_numpy(array), edge, np))
    if table is None:
        return f"<div><small>{escape(head)}</small><pre>{escape(array_str(array))}</pre></div>"
    # Where _corners() leaves rows and columns out.
    gaps = [edge if extent > 2 * edge else None for extent in (1, *array.shape)[-2:]]
    lines = []
    for i, row in enumerate(table):
        cells = (
            "&#8942;" if i == gaps[0] or j == gaps[1] else escape(f"{x}") for j, x in enumerate(row)
        )
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<div><small>{escape(head)}</small><table>{''.join(lines)}</table></div>"


def _for_numpy(array: _core.Array) -> _core.Array:
    """NumPy may lack bfloat16; the cast is exact."""
    return array.astype(_core.float32) if array.dtype == _core.bfloat16 else array


def array_str(array: _core.Array) -> str:
    """``[1. 2.]``, as NumPy prints it."""
    import numpy as np

    values, summary = _values_of(array, np)
    if values is None:
        return f"<{_description(array)}>"
    return str(np.array2string(values, **summary) if summary else values)


def _description(array: _core.Array) -> str:
    return f"array of {array.dtype} {array.shape} on {array.device}"


def _values_of(array: _core.Array, np: ModuleType) -> tuple[Any, dict[str, Any]]:
    """The elements to print as an ndarray, and the arguments of array2string that make it a
    summary.

    (None, {}) for dtypes that neither NumPy nor an installed ml_dtypes has.
    """
    array = _for_numpy(array)
    options = np.get_printoptions()
    try:
        if array.device == "cpu" or array.size <= options["threshold"]:
            summary: dict[str, Any] = {}
            if array.size > options["threshold"]:
                summary = {"threshold": options["threshold"]}
            return array.numpy(), summary
        edge_items = options["edgeitems"]
        return _corners(array, edge_items, np), {"threshold": 0, "edgeitems": edge_items}
    except _core.DTypeError:
        return None, {}


def _corners(array: _core.Array, edge_items: int, np: ModuleType) -> Any:
    """The corners of an array that a summary prints, with one zero between them that the
    summary does not print; only the corners are copied to the host."""
    # For each axis the parts to fetch, as (slice of the array, slice of the corners).
    parts_of_axes: list[list[tuple[slice, slice]]] = []
    for extent in array.shape:
        parts = [(slice(None), slice(None))]
        if extent > 2 * edge_items:
            first, last = slice(0, edge_items), slice(-edge_items, None)
            parts = [(first, first), (last, last)]
        parts_of_axes.append(parts)
    shape = [min(extent, 2 * edge_items + 1) for extent in array.shape]
    corners = np.zeros(shape, dtype=array.dtype.dtype)
    for corner in itertools.product(*parts_of_axes):
        source = tuple(part[0] for part in corner)
        target = tuple(part[1] for part in corner)
        corners[target] = array[source].numpy()
    return corners


def setflags(array: Array, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Sets the flags that are not None, as numpy.ndarray.setflags. Raises ReadOnlyError for
    write=True of memory that another library shared as read-only, ArgumentError for align=True of
    unaligned memory and for uic=True."""
    if align and not array.flags.aligned:
        raise _core.ArgumentError(
            "setflags: cannot set aligned flag of mis-aligned array to True; copy it: a.copy()"
        )
    if uic:
        raise _core.ArgumentError(
            "setflags: cannot set WRITEBACKIFCOPY flag to True; Spanwise's arrays never write back to another"
        )
    if write is not None:
        array.flags.writeable = write


def tobytes(array: Array, order: str = "C") -> bytes:
    """The elements as bytes in `order`, as numpy.ndarray.tobytes. Waits for a GPU."""
    # Viewed as uint8, since the buffer protocol has no format for some dtypes (bfloat16).
    flat = array.flatten(order)
    return memoryview(flat.to("cpu").view("uint8")).tobytes()


def rebuild_array(
    content: Any,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    device: str = "cpu",
    readonly: bool | None = None,
    kind: type[_core.Array] | None = None,
) -> _core.Array:
    """Makes the array that a pickle describes. Unpicklers that restrict globals have to allow it.

    `content` is a contiguous buffer of exactly the elements; `strides` are in bytes and not
    negative, None is C order. On the CPU the array shares the buffer, unless it is not aligned for
    the dtype or is read-only and `readonly` is False: then it is copied. With readonly=None the
    array is read-only if the buffer is. The elements of a GPU's array, of any ordinal, are copied to
    the default device of this process: its GPU, or the CPU without one. `kind` is the subclass of
    Array to return; TypeError for another type.
    """
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, _core.Array)):
        raise TypeError(f"rebuild_array: expected a subclass of spanwise.Array, got {kind!r}")
    array = _core._array_from_buffer(content, dtype, shape, strides, device, readonly)
    return array if kind is None else kind(array)


rebuild_array.__module__ = "spanwise"
