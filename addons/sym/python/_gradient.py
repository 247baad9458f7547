# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of symbolic arrays: those of the graph, written as NumPy calls again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import spanwise as sw
from spanwise import Constant, NotSupportedError, Variable
from spanwise.gradient import grad as graph_grad
from spanwise.graph import ancestors, recipe_of

from ._array import SymArray
from ._program import program_of
from ._record import FUNCTIONS, UFUNCS, leaf

_SHAPES = ("dimshuffle", "reshape", "broadcast_to")


@dataclass(frozen=True)
class _ConstantArray:
    """An array of equal elements, written as a number where it broadcasts."""

    number: np.generic
    shape: tuple[int, ...]


def grad(cost: SymArray, wrt: Any) -> Any:
    """The derivatives of the scalar `cost` with respect to `wrt`, a symbolic array or a list of
    them: symbolic arrays of the same shape and dtype, a list for a list.

    `wrt` must be part of the expression of `cost`. Raises GraphError for a cost with axes and for
    an array that `cost` does not depend on, NotSupportedError for a derivative that the functions
    of sym do not express.
    """
    listed = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    program = program_of(cost._node)
    nodes = (*program.leaves.values(), *program.steps.values(), *(x._node for x in listed))
    known: dict[Variable, SymArray | _ConstantArray] = {
        node.variable: SymArray.wrap(node) for node in nodes
    }
    derivatives = graph_grad(cost._node.variable, [x._node.variable for x in listed])
    for apply in ancestors(derivatives, known):
        known[apply.outputs[0]] = _translated(apply, [_operand(x, known) for x in apply.inputs])
    arrays = [_array(_operand(v, known)) for v in derivatives]
    return arrays if isinstance(wrt, (list, tuple)) else arrays[0]


def _operand(
    x: Variable, known: dict[Variable, SymArray | _ConstantArray]
) -> SymArray | _ConstantArray:
    if x not in known:
        if not isinstance(x, Constant):
            raise NotSupportedError(f"sym.grad: {x} is not part of the expression")
        value = sw.to_numpy(x.data, copyif=True)
        known[x] = SymArray.wrap(leaf(value)) if value.ndim else _ConstantArray(value[()], ())
    return known[x]


def _array(x: SymArray | _ConstantArray) -> SymArray:
    if isinstance(x, SymArray):
        return x
    return SymArray.of("broadcast_to", SymArray.wrap(leaf(np.asarray(x.number))), x.shape)


def _translated(
    apply: Any, inputs: Sequence[SymArray | _ConstantArray]
) -> SymArray | _ConstantArray:
    """The result of one node of a graph as a call of NumPy."""
    name, options = recipe_of(apply.op)
    shape = apply.outputs[0].type.shape
    if name == "consider_constant":
        return inputs[0]
    is_elementwise = name in UFUNCS or name == "where"
    numbers = [x.number for x in inputs if isinstance(x, _ConstantArray)]
    if len(numbers) == len(inputs) and (is_elementwise or name in (*_SHAPES, "cast")):
        return _ConstantArray(_number(name, numbers, options), shape)
    if is_elementwise:
        return _elementwise(name, inputs, shape)
    arrays = [_array(x) for x in inputs]
    if name == "dimshuffle":
        kept = [i for i in options["order"] if i >= 0]
        if kept == sorted(kept):
            permuted = arrays[0]
        else:
            permuted = arrays[0].T if kept[::-1] == sorted(kept) else arrays[0].transpose(kept)
        return permuted if permuted.shape == shape else permuted.reshape(shape)
    if name in _SHAPES:
        return SymArray.of(name, arrays[0], shape)
    if name == "cast":
        return SymArray.of("astype", arrays[0], options["dtype"])
    if name == "sum_to":
        return _summed_to(arrays[0], shape)
    if name == "set_subtensor" and _is_zero(inputs[0]) and len(inputs) == 2:
        placed = _placed(arrays[1], options["index"], shape)
        if placed is not None:
            return placed
    if name in FUNCTIONS:
        options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
        return SymArray.of(name, *arrays, **options)
    raise NotSupportedError(
        f"sym.grad: the derivative needs {apply.op}, which the functions of sym do not have; use "
        "spanwise.tensor.grad on graph variables"
    )


def _number(name: str, numbers: Sequence[np.generic], options: dict[str, Any]) -> Any:
    """The element of the result of an operation on arrays of equal elements."""
    if name in _SHAPES:
        return numbers[0]
    if name == "cast":
        return numbers[0].astype(options["dtype"])
    return np.asarray(getattr(np, name)(*numbers))[()]


def _elementwise(
    name: str, inputs: Sequence[SymArray | _ConstantArray], shape: tuple[int, ...]
) -> SymArray:
    dtypes = {x.dtype for x in inputs if isinstance(x, SymArray)}
    if name == "multiply" and any(isinstance(x, _ConstantArray) and x.number == 1 for x in inputs):
        (factor,) = (x for x in inputs if isinstance(x, SymArray))
        if factor.shape == shape and dtypes == {x.number.dtype for x in inputs if x is not factor}:  # type: ignore[union-attr]
            return factor
    args = [
        x
        if isinstance(x, SymArray)
        else x.number.item()  # a Python number where it does not decide the dtype
        if dtypes == {x.number.dtype}
        else x.number
        for x in inputs
    ]
    result = SymArray.of(name, *args)
    return result if result.shape == shape else SymArray.of(name, *map(_array, inputs))


def _summed_to(x: SymArray, shape: tuple[int, ...]) -> SymArray:
    """The sums of `x` over the axes along which `shape` broadcasts to x.shape."""
    new = x.ndim - len(shape)
    axes = [i for i, n in enumerate(x.shape) if i < new or (n != 1 and shape[i - new] == 1)]
    summed = x.sum(axis=tuple(axes), keepdims=True) if axes else x
    return summed if summed.shape == shape else summed.reshape(shape)


def _is_zero(x: SymArray | _ConstantArray) -> bool:
    return isinstance(x, _ConstantArray) and x.number == 0


def _placed(value: SymArray, index: str, shape: tuple[int, ...]) -> SymArray | None:
    """Zeros of `shape` with `value` at ``[index]``, by concatenation; None for index arrays and for
    steps other than 1 and -1."""
    try:
        key = [_index_part(part.strip()) for part in index.split(",")]
    except ValueError:
        return None
    indexed = len([part for part in key if part is not None and part is not ...])
    i = key.index(...) if ... in key else len(key)
    key[i : i + 1] = [slice(None)] * (len(shape) - indexed)
    ranges = [
        range(n)[part] if isinstance(part, slice) else range(part % n, part % n + 1)
        for n, part in zip(shape, (part for part in key if part is not None), strict=True)
    ]
    if any(len(r) > 1 and abs(r.step) != 1 for r in ranges):
        return None
    result = value.reshape(tuple(len(r) for r in ranges))
    for axis, (n, r) in enumerate(zip(shape, ranges, strict=True)):
        if len(r) > 1 and r.step < 0:
            result = SymArray.of("flip", result, axis)
        first = min(r, default=0)
        pads = [first, n - first - len(r)]
        if any(pads):
            zero, extents = np.dtype(result.dtype).type(0), result.shape
            before, after = (
                _array(_ConstantArray(zero, (*extents[:axis], pad, *extents[axis + 1 :])))
                for pad in pads
            )
            result = SymArray.of("concatenate", [before, result, after], axis=axis)
    return result


def _index_part(text: str) -> Any:
    """One part of an index as the graph writes it; ValueError for an index array."""
    if text in ("None", "..."):
        return None if text == "None" else ...
    if ":" not in text:
        return int(text)
    return slice(*(int(number) if number else None for number in text.split(":")))
