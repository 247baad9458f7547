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
    # For a product without a sum: for each operand the transposition, and the index that inserts
    # axes.
    aligned: tuple[tuple[tuple[int, ...], tuple[int | None, ...]], ...] | None


class EinsumPlan(NamedTuple):
    reductions: tuple[OperandReduction | None, ...]
    contractions: tuple[Contraction, ...]
    order: tuple[int, ...] | None
    # The axes of the contraction, if the plan is one contraction of two unreduced operands.
    direct: tuple[tuple[int, ...], ...] | None
    is_view: bool  # the result is a view of the only operand


@lru_cache(maxsize=512)
def plan_for(
    subscripts: Any, shapes: tuple[tuple[int, ...], ...], path: tuple[tuple[int, ...], ...] | None
) -> EinsumPlan:
    inputs, output = parse_subscripts(subscripts, tuple(map(len, shapes)))
    extents = _extents(inputs, shapes)
    reductions, terms = [], []
    # Axes of extent 1 that broadcast are left out.
    whole = [
        {n for n, size in zip(labels, shape, strict=True) if size == extents[n]}
        for labels, shape in zip(inputs, shapes, strict=True)
    ]
    for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        others = set(output).union(*whole[:i], *whole[i + 1 :])
        preparation, left = _prepare(labels, shape, whole[i], others, i)
        reductions.append(preparation)
        terms.append(left)
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
        len(inputs) == 1 and not any(how is not None and how.summed for how in reductions),
    )


def _contractions(
    terms: list[Labels],
    output: list[Label],
    extents: dict[Label, int],
    path: tuple[tuple[int, ...], ...] | None,
) -> tuple[list[Contraction], Labels]:
    """The contractions in order, and the labels of the result. Within a step of the path, or
    without a path, the order is greedy by memory (_next_pair)."""
    contractions: list[Contraction] = []
    live = dict(enumerate(terms))  # id -> labels, in the order of the operand list of _run
    left = list(live)  # ids, in the order that the path's indices refer to

    def contract(numbers: list[int]) -> int:
        while len(numbers) > 1:
            one, two = sorted(_next_pair(numbers, live, output, extents))
            positions = [list(live).index(number) for number in (one, two)]
            first, second = live.pop(one), live.pop(two)
            needed = {n for t in live.values() for n in t} | set(output)
            pair, made = _pair(positions[0], positions[1], first, second, needed)
            number = len(terms) + len(contractions)
            contractions.append(pair)
            live[number] = made
            numbers = [*(n for n in numbers if n not in (one, two)), number]
        return numbers[0]

    if path is None:
        return contractions, live[contract(left)]
    for step in path:
        if not step or any(not 0 <= position < len(left) for position in step):
            raise _core.BoundsError(
                f"einsum: the step {step} of the path names no operands; {len(left)} are left"
            )
        chosen = [left[position] for position in sorted(set(step))]
        left = [*(number for number in left if number not in chosen), contract(chosen)]
    if len(left) > 1:
        raise RuntimeError(
            f"einsum: invalid einsum_path: {len(left) - 1} more operands have to be contracted; "
            "add steps to the path"
        )
    return contractions, live[left[0]]


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


def _prepare(
    labels: list[Label],
    shape: tuple[int, ...],
    whole: set[Label],
    others: set[Label],
    position: int,
) -> tuple[OperandReduction | None, Labels]:
    left, sizes = list(labels), list(shape)
    diagonals = []
    for label in dict.fromkeys(labels):
        while left.count(label) > 1:
            first = left.index(label)
            second = left.index(label, first + 1)
            if sizes[first] != sizes[second]:
                raise _core.ArgumentError(
                    f"einsum: dimensions in operand {position} for collapsing index {label!r} don't match "
                    f"({sizes[first]} != {sizes[second]}; shape {shape})"
                )
            diagonals.append((first, second))
            size = sizes[first]
            del left[second], left[first], sizes[second], sizes[first]
            left.append(label)  # numpy.diagonal puts it last
            sizes.append(size)
    dropped = tuple(i for i, n in enumerate(left) if n not in whole)
    left = [n for i, n in enumerate(left) if i not in dropped]
    summed = tuple(i for i, n in enumerate(left) if n not in others)
    left = [n for n in left if n in others]
    if not (diagonals or dropped or summed):
        return None, tuple(left)
    return OperandReduction(tuple(diagonals), dropped, summed), tuple(left)


def _next_pair(
    numbers: list[int],
    live: dict[int, Labels],
    output: list[Label],
    extents: dict[Label, int],
) -> tuple[int, int]:
    """The two of `numbers` whose product adds the fewest elements (its size less theirs)."""
    if len(numbers) == 2:
        return numbers[0], numbers[1]

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        one, two = live[pair[0]], live[pair[1]]
        needed = {n for k, t in live.items() if k not in pair for n in t} | set(output)
        both = set(one) | set(two)
        result_size = prod(extents[n] for n in both & needed)
        freed = prod(extents[n] for n in one) + prod(extents[n] for n in two)
        return result_size - freed, prod(extents[n] for n in both)

    return min(combinations(numbers, 2), key=cost)


def _pair(
    first: int, second: int, one: Labels, two: Labels, needed: set[Label]
) -> tuple[Contraction, Labels]:
    shared = [n for n in one if n in two]
    batch = [n for n in shared if n in needed]
    summed = [n for n in shared if n not in needed]
    made = (*batch, *(n for n in one if n not in shared), *(n for n in two if n not in shared))
    aligned = None
    if not summed:
        aligned = tuple(_alignment(labels, made) for labels in (one, two))
    axes = [
        tuple(tuple(t.index(n) for n in names) for t in (one, two)) for names in (batch, summed)
    ]
    return Contraction(first, second, axes[0], axes[1], aligned), made


def _alignment(labels: Labels, made: Labels) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    order = tuple(labels.index(n) for n in made if n in labels)
    return order, tuple(slice(None) if n in labels else None for n in made)
