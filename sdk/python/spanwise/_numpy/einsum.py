# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum by views, sums and pairwise contractions.

A plan is cached for each pair of subscripts and shapes. Each operand is first reduced: repeated
labels to a diagonal, axes of extent 1 that broadcast are dropped, labels found nowhere else are
summed. Then pairs are contracted until one array is left, whose axes are transposed to the output
order.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from .. import _core
from .einsum_plan import Axes, EinsumPlan, OperandReduction, plan_for
from .operands import as_arrays


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Any:
    """Einstein summation, as numpy.einsum; `optimize` may be a path of numpy.einsum_path.

    A result that can be a view of the only operand is that view, whatever `order` is. Raises
    ArgumentError for subscripts that do not fit the operands, TypeError for casts that `casting`
    does not allow.
    """
    subscripts: str | tuple[Any, ...]
    if len(operands) > 1 and type(operands[0]) is str:  # the common case
        subscripts, arrays = operands[0], as_arrays(*operands[1:])
    else:
        subscripts, values = read_operands(operands)
        arrays = as_arrays(*values)
    path = None if optimize is False or optimize is True else _explicit_path(optimize)
    memory_order = None if order == "K" else _memory_order(order, arrays)
    plan = plan_for(subscripts, tuple([a.shape for a in arrays]), path)
    if plan.direct is not None and dtype is None:
        result = _core._contract("einsum", arrays[0], arrays[1], *plan.direct)
        if plan.order is not None:
            result = result.transpose(plan.order)
    else:
        converted = _of_one_dtype(arrays, dtype, casting)
        result = run_plan(plan, converted, _core.Array.diagonal, _contract)
    if out is not None:
        if result.shape != out.shape:
            raise _core.ArgumentError(
                f"einsum: the result has shape {result.shape}, got an out of shape {out.shape}"
            )
        _core.copyto(out, result, casting="same_kind" if casting == "safe" else casting)
        return out
    if memory_order is None or (plan.is_view and result.dtype == arrays[0].dtype):
        return result
    return _core._asarray(result, order=memory_order)


def _memory_order(order: Any, arrays: list[_core.Array]) -> str | None:
    """The order of the result: "C", "F", or None for any ("K"). "A" is "F" if all operands are
    F-contiguous, else "C"."""
    letter = order.upper() if isinstance(order, str) else "C" if order is None else order
    if letter not in ("C", "F", "A", "K"):
        raise _core.ArgumentError(
            f"einsum: order must be one of 'C', 'F', 'A', or 'K', got {order!r}"
        )
    if letter == "A":
        return "F" if all(a.flags.f_contiguous for a in arrays) else "C"
    return None if letter == "K" else letter


def _of_one_dtype(arrays: list[_core.Array], dtype: Any, casting: str) -> list[_core.Array]:
    if dtype is None:
        common = arrays[0].dtype
        for a in arrays:
            if a.dtype != common:
                common = _core.result_type(*arrays)
                break
        else:
            return arrays
    else:
        common = _core.dtype(dtype)
        for a in arrays:
            if not _core.can_cast(a.dtype, common, casting):
                raise TypeError(
                    f"einsum: cannot cast an operand from {a.dtype} to {common} under casting={casting!r}; "
                    'allow more with casting="same_kind" or "unsafe"'
                )
    return [a if a.dtype == common else a.astype(common) for a in arrays]


def read_operands(operands: tuple[Any, ...]) -> tuple[str | tuple[Any, ...], tuple[Any, ...]]:
    """The subscripts of a call of einsum, and its operands. Raises ArgumentError without subscripts or
    operands."""
    if not operands:
        raise _core.ArgumentError(
            "einsum: expected subscripts and at least one operand, got nothing"
        )
    subscripts: str | tuple[Any, ...]
    if isinstance(operands[0], str):
        subscripts, values = operands[0], operands[1:]
    else:  # einsum(array, labels, array, labels, ...[, output labels])
        count = len(operands) // 2
        labels = tuple(tuple(_number_label(n) for n in operands[2 * i + 1]) for i in range(count))
        result = tuple(_number_label(n) for n in operands[-1]) if len(operands) % 2 else None
        subscripts, values = (labels, result), operands[: 2 * count : 2]
    if not values:
        raise _core.ArgumentError(
            "einsum: expected as many operands as parts of the subscripts, got none"
        )
    return subscripts, values


def _number_label(label: Any) -> Any:
    if label is Ellipsis:
        return "..."
    if not hasattr(label, "__index__") or not 0 <= label.__index__() < 52:
        raise _core.ArgumentError(
            f"einsum: subscript is not within the valid range [0, 52): {label!r}; expected whole numbers"
        )
    number = label.__index__()
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _explicit_path(optimize: Any) -> tuple[tuple[int, ...], ...] | None:
    """The path of numpy.einsum_path; None for "greedy", "optimal" and None, where the plan
    chooses."""
    if optimize is None or isinstance(optimize, str):
        if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
            raise _core.ArgumentError(
                f"einsum: expected optimize to be a bool, 'greedy', 'optimal' or a path, got {optimize!r}"
            )
        return None
    if len(optimize) and optimize[0] == "einsum_path":
        return tuple(tuple(map(index, step)) for step in optimize[1:])
    # (method, memory limit); the limit is ignored.
    if len(optimize) == 2 and isinstance(optimize[0], str) and isinstance(optimize[1], int | float):
        return _explicit_path(optimize[0])
    raise TypeError(
        f"einsum: did not understand the path {optimize!r}; expected ['einsum_path', (0, 1), ...]"
    )


def _contract(a: _core.Array, b: _core.Array, batch: Axes, summed: Axes) -> _core.Array:
    return _core._contract("einsum", a, b, *batch, *summed)


def run_plan(
    plan: EinsumPlan,
    operands: list[Any],
    diagonal: Callable[[Any, int, int, int], Any],
    contract: Callable[[Any, Any, Axes, Axes], Any],
) -> Any:
    """The result of a plan for arrays, or for variables. diagonal(x, 0, axis1, axis2) returns `x` with
    the diagonal of two axes as the last axis; contract(a, b, batch, summed) sums the products of `a`
    and `b` over axes."""
    terms = [
        x if reduction is None else _reduced(x, reduction, diagonal)
        for x, reduction in zip(operands, plan.reductions, strict=True)
    ]
    for pair in plan.contractions:
        second, first = terms.pop(pair.second), terms.pop(pair.first)
        if pair.aligned is None:
            terms.append(contract(first, second, pair.batch, pair.summed))
            continue
        aligned = (
            x.transpose(order)[key] if key else x.transpose(order)
            for x, (order, key) in zip((first, second), pair.aligned, strict=True)
        )
        terms.append(_core.multiply(*aligned))
    (result,) = terms
    return result if plan.order is None else result.transpose(plan.order)


def _reduced(
    x: Any, reduction: OperandReduction, diagonal: Callable[[Any, int, int, int], Any]
) -> Any:
    for first, second in reduction.diagonals:
        x = diagonal(x, 0, first, second)
    if reduction.dropped:
        x = x[tuple(0 if i in reduction.dropped else slice(None) for i in range(x.ndim))]
    if reduction.summed:
        axes = reduction.summed
        # In the operands' dtype, as NumPy: integers wrap around, bool is a logical or.
        x = x.any(axis=axes) if x.dtype == "bool" else x.sum(axes, dtype=x.dtype)
    return x
