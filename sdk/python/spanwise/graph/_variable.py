# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The array methods of Variable that are implemented in Python; each adds a node to the graph.

The extension module looks them up here by name. Reductions are implemented there, with those of
Array."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, SupportsIndex

from .. import _core
from .._core import CompiledFunction, Variable
from .._numpy import array_protocols as _protocols, elementwise as _elementwise
from .._numpy.shape import checked_count, normalized_axes, normalized_axis
from ._function import function
from ._op import apply_registered as apply
from ._tensor import static_integer, transfer as transfer

clip = _elementwise.clip
conj = _core.conjugate
dot = _core.dot
round_ = _elementwise.round

#: Stands in the property shape= of an op for an extent that is an input of the op.
_COMPUTED = _core._computed_extent


def evaluate(x: Variable, inputs_to_values: Mapping[Variable, Any] | None = None) -> Any:
    """The value of `x` for values of its inputs: ``z.eval({x: 1.0})``. The compiled functions of
    the last 32 combinations of `x` and inputs are cached."""
    values = dict(inputs_to_values or {})
    return _compiled(x, tuple(values))(*values.values())


@lru_cache(maxsize=32)
def _compiled(x: Variable, inputs: tuple[Variable, ...]) -> CompiledFunction:
    return function(list(inputs), x)


def clone(x: Variable, name: str | None = None) -> Variable:
    """A new variable of the same type and name, without an owner."""
    return x.type(name or x.name)


def astype(x: Variable, dtype: Any, copy: bool = True) -> Variable:
    """`x` cast to `dtype`; `x` itself if it has that dtype. `copy` is ignored."""
    target = _core.dtype(dtype)
    return x if x.dtype == target else apply("cast", x, dtype=target.name)


# ---- Shapes ----


def shape(x: Variable) -> Variable:
    """The shape as an int64 vector on the host; a constant if all extents are fixed."""
    fixed = x.type.shape
    if None in fixed:
        return apply("shape", x)
    return _core._as_variable(_core.array(list(fixed), "int64", device="cpu"))


def size(x: Variable) -> Variable:
    """The number of elements."""
    return _core.prod(shape(x))


def _extents(x: Variable, shape: tuple[Any, ...], rank: int | None) -> tuple[list[int], list[Any]]:
    """The property shape= of an op (_COMPUTED where an extent is an input), and those inputs.
    Raises GraphError for a vector of unknown length, LayoutError for an extent < -1."""
    if len(shape) == 1 and isinstance(shape[0], Variable) and shape[0].ndim == 1:
        vector = shape[0]
        count = vector.type.shape[0] if rank is None else rank
        if count is None:
            raise _core.GraphError(
                f"{x}: the length of the shape {vector} is not fixed, so neither is the rank of the "
                "result; give it: reshape(shape, ndim=2)"
            )
        count = checked_count(f"{x}: rank of the new shape", count, _core._max_rank)
        shape = tuple(vector[i] for i in range(count))
    elif len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    extents, computed = [], []
    for extent in shape:
        known = static_integer(extent)
        if known is None:
            computed.append(extent)
        elif known < -1:
            raise _core.LayoutError(f"{x}: extent {known} of a shape; expected >= 0, or -1")
        extents.append(_COMPUTED if known is None else known)
    return extents, computed


def reshape(x: Variable, *shape: Any, ndim: int | None = None) -> Variable:
    """`x` with another shape, in C order. `ndim` is the rank of the result, needed if the shape is
    a variable vector of unknown length."""
    if len(shape) == 2 and ndim is None and isinstance(shape[0], Variable) and shape[0].ndim == 1:
        shape, ndim = shape[:1], operator.index(shape[1])  # reshape(shape, ndim), as in Theano
    extents, computed = _extents(x, shape, ndim)
    return apply("reshape", x, *computed, shape=extents)


def broadcast_to(x: Variable, shape: Any) -> Variable:
    """View broadcast to `shape`: axes of extent 1 and new leading axes repeat the elements."""
    listed = (shape,) if isinstance(shape, (Variable, Sequence)) else ((shape,),)
    extents, computed = _extents(x, listed, None)
    if -1 in extents:
        raise _core.LayoutError(f"broadcast_to: {x}: all extents must be >= 0, got {shape}")
    return apply("broadcast_to", x, *computed, shape=extents)


def ravel(x: Variable, order: Any = "C") -> Variable:
    """`x` as a vector in C order. Raises NotSupportedError for another `order`."""
    if order not in ("C", None):
        raise _core.NotSupportedError(
            f'ravel: {x}: of a variable the order is "C", got {order!r}; transpose it first'
        )
    return x if x.ndim == 1 else reshape(x, -1)


def flatten(x: Variable, ndim: int = 1) -> Variable:
    """`x` reshaped in C order to `ndim` axes: the last one joins all remaining axes."""
    count = operator.index(ndim)
    if not 1 <= count <= max(x.ndim, 1):
        raise _core.LayoutError(
            f"flatten: {x}: expected ndim from 1 to {max(x.ndim, 1)}, got {count}"
        )
    if count == x.ndim:
        return x
    extents = shape(x)
    return reshape(x, *(extents[i] for i in range(count - 1)), -1)


# ---- Permutations of axes ----


def dimshuffle(x: Variable, *pattern: Any) -> Variable:
    """View with the axes in the order `pattern`; "x" or None is a new axis of extent 1."""
    if len(pattern) == 1 and isinstance(pattern[0], (tuple, list)):
        pattern = tuple(pattern[0])
    order = [-1 if p in ("x", None) else normalized_axis(p, x.ndim, "dimshuffle") for p in pattern]
    if order == list(range(x.ndim)):
        return x
    return apply("dimshuffle", x, order=order)


def transpose(x: Variable, *axes: Any) -> Variable:
    """View with the axes in the order `axes`, by default reversed."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], Sequence)):
        axes = tuple(axes[0] or ())
    listed = normalized_axes(axes, x.ndim, "transpose") if axes else tuple(range(x.ndim))[::-1]
    if len(listed) != x.ndim:
        raise _core.LayoutError(f"transpose: {x}: expected {x.ndim} axes, got {axes}")
    return dimshuffle(x, *listed)


def matrix_transpose(x: Variable) -> Variable:
    """View with the last two axes exchanged. Raises LayoutError for rank < 2."""
    if x.ndim < 2:
        raise _core.LayoutError(f"matrix_transpose: {x} must be at least of rank 2, got {x.ndim}")
    return swapaxes(x, -1, -2)


def swapaxes(x: Variable, axis1: SupportsIndex, axis2: SupportsIndex) -> Variable:
    """View with two axes exchanged."""
    order = list(range(x.ndim))
    a, b = normalized_axis(axis1, x.ndim, "swapaxes"), normalized_axis(axis2, x.ndim, "swapaxes")
    order[a], order[b] = b, a
    return dimshuffle(x, *order)


def squeeze(x: Variable, axis: Any = None) -> Variable:
    """View without the axes `axis`, by default without those whose type fixes extent 1."""
    if axis is None:
        dropped: Any = [i for i, extent in enumerate(x.type.shape) if extent == 1]
    else:
        dropped = normalized_axes(axis, x.ndim, "squeeze")
    return dimshuffle(x, *(i for i in range(x.ndim) if i not in dropped))


# ---- Indexing: x[1:, i, ::-1] is an op of the index "1:, ?, ::-1" with the input i ----

_INT64_MAX = 2**63 - 1


def as_index(key: Any) -> tuple[str, list[Variable]]:
    """The text of an index, and the variables for its ? (integers) and [] (index arrays, masks) in
    order. Raises BoundsError for values that are no index."""
    inputs: list[Variable] = []
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(_part_text(part, inputs) for part in parts), inputs


def _part_text(part: Any, inputs: list[Variable]) -> str:
    """The text of one part of an index; appends the variables for its ? and [] to `inputs`."""
    if part is None:
        return "None"
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        integers = [part.start, part.stop, *([] if part.step is None else [part.step])]
        return ":".join("" if n is None else _integer_text(n, inputs) for n in integers)
    if _is_integer(part):
        return _integer_text(part, inputs)
    inputs.append(_index_array(part))
    return "[]"


def _is_integer(part: Any) -> bool:
    if isinstance(part, Variable):
        return part.ndim == 0 and part.dtype.kind in "iu"
    if isinstance(part, bool) or getattr(part, "ndim", 0) > 0:
        return False
    try:
        operator.index(part)
    except TypeError:
        return False
    return True


def _integer_text(value: Any, inputs: list[Variable]) -> str:
    known = static_integer(value)
    if known is not None:
        # Clipped, it is still out of bounds.
        return str(max(-_INT64_MAX - 1, min(known, _INT64_MAX)))
    inputs.append(value)
    return "?"


def _index_array(part: Any) -> Variable:
    """The variable for an index array or a mask. Raises BoundsError for other values."""
    if isinstance(part, (str, bytes, dict, float, complex)):
        raise _core.BoundsError(
            "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays or "
            f"variables are valid indices of a variable, got {part!r}"
        )
    if isinstance(part, list | tuple):
        listed = _core._asarray(part, device="cpu")
        part = listed.astype("int64") if listed.size == 0 else listed
    index = _core._as_variable(part)
    if index.ndim == 0 and index.dtype == "bool":
        raise _core.BoundsError(
            f"{index} is a mask of rank 0; an index of a variable needs masks that have an axis: "
            "choose by T.where()"
        )
    return index


def getitem(x: Variable, key: Any) -> Variable:
    """``x[key]``: a view for integers, slices, None and Ellipsis, a copy for index arrays and
    masks."""
    index, inputs = as_index(key)
    fixed = _fixed_extent(x, index)
    if fixed is not None:
        return _core._as_variable(_core.array(fixed, "int64", device="cpu"))
    return apply("subtensor", x, *inputs, index=index)


def _fixed_extent(x: Variable, index: str) -> int | None:
    """The value of ``y.shape[index]`` for x = y.shape, if the type of y fixes that extent."""
    if x.owner is None or str(x.owner.op) != "Shape" or not index.lstrip("-").isdecimal():
        return None
    extents = x.owner.inputs[0].type.shape
    return extents[int(index)] if -len(extents) <= int(index) < len(extents) else None


def take(x: Variable, indices: Any, axis: SupportsIndex | None = None) -> Variable:
    """The slices `indices` along `axis`; without `axis` elements of the flattened variable."""
    if axis is None:
        return take(ravel(x), indices, 0)
    before = (slice(None),) * normalized_axis(axis, x.ndim, "take")
    return getitem(x, (*before, indices))


def items(x: Variable) -> Iterator[Variable]:
    """Iterates over the slices along the first axis, whose extent the type must fix."""
    return (x[i] for i in range(len(x)))


# ---- NumPy's functions ----


def refuse_array(x: Variable, dtype: Any = None, copy: Any = None) -> Any:
    """Variable.__array__, which numpy.asarray() calls: always raises TypeError."""
    raise TypeError(
        f"{x} has no value yet, so it is no array; compile it with function(), or call "
        "its eval({...})"
    )


def array_function(
    x: Variable, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Variable.__array_function__: calls Spanwise's function of the same name."""
    return _protocols.array_function(x, function, types, args, kwargs)


def array_ufunc(x: Variable, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Variable.__array_ufunc__: calls Spanwise's ufunc of the same name."""
    return _protocols.array_ufunc(ufunc, method, inputs, options)
