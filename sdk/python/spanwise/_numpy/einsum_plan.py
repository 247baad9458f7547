# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""How einsum reduces its operands and in which pairs it contracts them."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

from .. import _core
from .einsum_subscripts import Label, Labels, parse_subscripts

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
