# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum by views, sums and pairwise contractions.

A plan is cached for each pair of subscripts and shapes. Each operand is first reduced: repeated
labels to a diagonal, axes of extent 1 that broadcast are dropped, labels found nowhere else are
summed. Then pairs are contracted until one array is left, whose axes are transposed to the output
order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from operator import index
from typing import Any, NamedTuple

from .. import _core
from .shape import as_arrays

# ---- Subscripts: from text or lists to labels ----

# A letter, or for an axis of an ellipsis its negative index among the axes of the ellipsis.
Label = str | int
Labels = tuple[Label, ...]


def parse_subscripts(
    subscripts: Any, ranks: tuple[int, ...]
) -> tuple[list[list[Label]], list[Label]]:
    """The labels of each operand and of the result. `subscripts` are text, or a list of labels for
    each operand and one or None for the result. Raises ArgumentError where they do not fit `ranks`."""
    if isinstance(subscripts, str):
        left, arrow, right = subscripts.replace(" ", "").partition("->")
        parts = [_tokens(part) for part in left.split(",")]
        result = _tokens(right) if arrow else None
    else:
        parts, result = [list(part) for part in subscripts[0]], subscripts[1]
    if len(parts) != len(ranks):
        comparison = "fewer" if len(parts) > len(ranks) else "more"
        raise _core.ArgumentError(
            f"einsum: {comparison} operands provided to einsum function than specified in the subscripts "
            f"string: {len(ranks)} and {len(parts)}"
        )
    inputs = [
        _expand(part, rank, i) for i, (part, rank) in enumerate(zip(parts, ranks, strict=True))
    ]
    dots = sorted({n for labels in inputs for n in labels if isinstance(n, int)})
    return inputs, _output(result, inputs, dots)


def _tokens(part: str) -> list[str]:
    tokens = re.findall(r"\.\.\.|.", part, re.DOTALL)
    for token in tokens:
        if token != "..." and not (token.isascii() and token.isalpha()):
            raise _core.ArgumentError(
                f"einsum: invalid subscript {token!r} in einstein sum subscripts string, subscripts must be "
                "letters, an ellipsis '...', ',' or '->'"
            )
    return tokens


def _expand(part: Sequence[str], rank: int, position: int) -> list[Label]:
    """The labels of the operand at `position`: those of `part`, with its ellipsis expanded."""
    if part.count("...") > 1:
        raise _core.ArgumentError(
            f"einsum: more than one ellipsis in the subscripts of operand {position}"
        )
    named = len(part) - part.count("...")
    if named > rank:
        raise _core.ArgumentError(
            "einsum: einstein sum subscripts string contains too many subscripts for operand "
            f"{position}: {named}, and it has {rank} axes"
        )
    if "..." not in part:
        if named < rank:
            raise _core.ArgumentError(
                "einsum: operand has more dimensions than subscripts given in einstein sum, but no "
                f"'...' ellipsis provided to broadcast the extra dimensions: operand {position} has {rank} "
                f"axes and {named} subscripts"
            )
        return list(part)
    position_of_dots = part.index("...")
    return [*part[:position_of_dots], *range(named - rank, 0), *part[position_of_dots + 1 :]]


def _output(result: Any, inputs: list[list[Label]], dots: list[int]) -> list[Label]:
    counts = Counter(label for labels in inputs for label in labels)
    if result is None:
        letters = sorted(n for n, count in counts.items() if isinstance(n, str) and count == 1)
        return [*dots, *letters]
    output: list[Label] = []
    for label in result:
        output += dots if label == "..." else [label]
    for label in output:
        if label not in counts:
            raise _core.ArgumentError(
                f"einsum: einstein sum subscripts string included output subscript {label!r} which never "
                "appeared in an input"
            )
        if output.count(label) > 1:
            raise _core.ArgumentError(
                f"einsum: einstein sum subscripts string includes output subscript {label!r} multiple times"
            )
    if dots and "..." not in result:
        raise _core.ArgumentError(
            "einsum: output has no ellipsis for the axes that the operands' ellipses stand for; "
            "write '...' into it"
        )
    return output


# ---- Plans ----

#: Axes of two operands, in pairs.
Axes = tuple[tuple[int, ...], tuple[int, ...]]


class OperandReduction(NamedTuple):
    """The reduction of one operand, as axes: diagonals of pairs, then dropped, then summed axes."""

    diagonals: tuple[tuple[int, int], ...]
    dropped: tuple[int, ...]
    summed: tuple[int, ...]


class Contraction(NamedTuple):
    """One contraction: the operands at `first` < `second` leave the list, and their product is
    appended to it. `batch` and `summed` are axes of each."""

    first: int
    second: int
    batch: Axes
    summed: Axes
    # For a product without a sum: for each operand the order of its axes, and the index that inserts
    # axes of extent 1, so that multiply() broadcasts. None for a contraction with a sum.
    aligned: tuple[tuple[tuple[int, ...], tuple[int | None, ...]], ...] | None


class EinsumPlan(NamedTuple):
    reductions: tuple[OperandReduction | None, ...]  # of each operand; None: it is used as it is
    contractions: tuple[Contraction, ...]
    order: tuple[int, ...] | None  # of the axes of the last product in the result; None: the same
    # (*batch, *summed) of the contraction, if the plan is one contraction of two unreduced operands.
    direct: tuple[tuple[int, ...], ...] | None
    is_view: bool  # the result is a view of the only operand


@lru_cache(maxsize=512)
def plan_for(
    subscripts: Any, shapes: tuple[tuple[int, ...], ...], path: tuple[tuple[int, ...], ...] | None
) -> EinsumPlan:
    """The plan for subscripts as of read_operands() and operands of these shapes; `path` is that of
    numpy.einsum_path, None to choose one. Raises ArgumentError where the subscripts do not fit."""
    inputs, output = parse_subscripts(subscripts, tuple(map(len, shapes)))
    extents = _extents(inputs, shapes)
    reductions, terms = [], []
    # The labels of each operand whose axis has the full extent: not those that broadcast.
    full = [
        {n for n, size in zip(labels, shape, strict=True) if size == extents[n]}
        for labels, shape in zip(inputs, shapes, strict=True)
    ]
    for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        others = set(output).union(*full[:i], *full[i + 1 :])
        reduction, term = _reduction(labels, shape, full[i], others, i)
        reductions.append(reduction)
        terms.append(term)
    contractions, last = _contractions(terms, output, extents, path)
    order = tuple(last.index(label) for label in output)
    direct = None
    if len(contractions) == 1 and reductions == [None, None] and contractions[0].aligned is None:
        direct = (*contractions[0].batch, *contractions[0].summed)
    return EinsumPlan(
        tuple(reductions),
        tuple(contractions),
        None if order == tuple(range(len(last))) else order,
        direct,
        len(inputs) == 1 and not any(r is not None and r.summed for r in reductions),
    )


def _contractions(
    terms: list[Labels],
    output: list[Label],
    extents: dict[Label, int],
    path: tuple[tuple[int, ...], ...] | None,
) -> tuple[list[Contraction], Labels]:
    """The contractions in order, and the labels of the last product. Within a step of the path, or
    without a path, _next_pair() chooses the order."""
    contractions: list[Contraction] = []
    live = dict(enumerate(terms))  # id -> labels, in the order of the list of terms in run_plan()
    remaining = list(live)  # ids, in the order that the path's indices refer to

    def contract(ids: list[int]) -> int:
        """Contracts the terms `ids` to one, and returns its id."""
        while len(ids) > 1:
            pair = sorted(_next_pair(ids, live, output, extents))
            first, second = (list(live).index(i) for i in pair)
            labels = [live.pop(i) for i in pair]
            needed = {n for term in live.values() for n in term} | set(output)
            contraction, product = _contraction(first, second, *labels, needed)
            product_id = len(terms) + len(contractions)
            contractions.append(contraction)
            live[product_id] = product
            ids = [*(i for i in ids if i not in pair), product_id]
        return ids[0]

    if path is None:
        return contractions, live[contract(remaining)]
    for step in path:
        if not step or any(not 0 <= position < len(remaining) for position in step):
            raise _core.BoundsError(
                f"einsum: the step {step} of the path names no operands; expected positions below {len(remaining)}"
            )
        chosen = [remaining[position] for position in sorted(set(step))]
        remaining = [*(i for i in remaining if i not in chosen), contract(chosen)]
    if len(remaining) > 1:
        raise RuntimeError(
            f"einsum: invalid einsum_path: {len(remaining) - 1} more operands have to be contracted; "
            "add steps to the path"
        )
    return contractions, live[remaining[0]]


def _extents(inputs: list[list[Label]], shapes: tuple[tuple[int, ...], ...]) -> dict[Label, int]:
    extents: dict[Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, extent in zip(labels, shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                name = f"label {label!r}" if isinstance(label, str) else "an ellipsis' axis"
                raise _core.ArgumentError(
                    f"einsum: operands could not be broadcast together: {name} has extents {known} "
                    f"and {extent} (shapes {', '.join(map(str, shapes))})"
                )
    return extents


def _reduction(
    labels: list[Label],
    shape: tuple[int, ...],
    full: set[Label],
    others: set[Label],
    position: int,
) -> tuple[OperandReduction | None, Labels]:
    """The reduction of the operand at `position`, and the labels of its result. `full` are the labels
    whose axes do not broadcast, `others` those of the output and of the other operands."""
    term, sizes = list(labels), list(shape)
    diagonals = []
    for label in dict.fromkeys(labels):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            if sizes[first] != sizes[second]:
                raise _core.ArgumentError(
                    f"einsum: dimensions in operand {position} for collapsing index {label!r} don't match "
                    f"({sizes[first]} != {sizes[second]}; shape {shape})"
                )
            diagonals.append((first, second))
            size = sizes[first]
            del term[second], term[first], sizes[second], sizes[first]
            term.append(label)  # numpy.diagonal puts it last
            sizes.append(size)
    dropped = tuple(i for i, n in enumerate(term) if n not in full)
    term = [n for i, n in enumerate(term) if i not in dropped]
    summed = tuple(i for i, n in enumerate(term) if n not in others)
    term = [n for n in term if n in others]
    if not (diagonals or dropped or summed):
        return None, tuple(term)
    return OperandReduction(tuple(diagonals), dropped, summed), tuple(term)


def _next_pair(
    ids: list[int],
    live: dict[int, Labels],
    output: list[Label],
    extents: dict[Label, int],
) -> tuple[int, int]:
    """The two of `ids` whose product adds the fewest elements; of equals, that of fewest products."""
    if len(ids) == 2:
        return ids[0], ids[1]

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        first, second = live[pair[0]], live[pair[1]]
        needed = {n for i, term in live.items() if i not in pair for n in term} | set(output)
        both = set(first) | set(second)
        result_size = prod(extents[n] for n in both & needed)
        freed = prod(extents[n] for n in first) + prod(extents[n] for n in second)
        return result_size - freed, prod(extents[n] for n in both)

    return min(combinations(ids, 2), key=cost)


def _contraction(
    first: int, second: int, a: Labels, b: Labels, needed: set[Label]
) -> tuple[Contraction, Labels]:
    """The contraction of the terms with the labels `a` and `b`, and the labels of their product. Shared
    labels that are not `needed` later are summed."""
    shared = [n for n in a if n in b]
    batch = [n for n in shared if n in needed]
    summed = [n for n in shared if n not in needed]
    product = (*batch, *(n for n in a if n not in shared), *(n for n in b if n not in shared))
    aligned = None if summed else tuple(_alignment(labels, product) for labels in (a, b))
    axes = [
        tuple(tuple(term.index(n) for n in names) for term in (a, b)) for names in (batch, summed)
    ]
    return Contraction(first, second, axes[0], axes[1], aligned), product


def _alignment(labels: Labels, product: Labels) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    order = tuple(labels.index(n) for n in product if n in labels)
    return order, tuple(slice(None) if n in labels else None for n in product)


# ---- Operands and results ----


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
