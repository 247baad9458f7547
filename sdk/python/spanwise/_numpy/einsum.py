# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einsum by views, sums and pairwise contractions.

A plan is cached for each pair of subscripts and shapes. Each operand is first reduced: repeated
labels to a diagonal, axes of extent 1 that broadcast are dropped, labels found nowhere else are
summed. Then pairs are contracted until one array is left, whose axes are transposed to the output
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from operator import index
from typing import Any, NamedTuple

from .. import _core
from .operands import as_arrays

# A letter, or for an axis of an ellipsis its negative index among them.
_Label = str | int
_Labels = tuple[_Label, ...]


class _Preparation(NamedTuple):
    """The reduction of one operand, as axes: diagonals of pairs, then dropped, then summed axes."""

    diagonals: tuple[tuple[int, int], ...]
    dropped: tuple[int, ...]
    summed: tuple[int, ...]


class _Pair(NamedTuple):
    """One contraction: the operands at `first` < `second` leave the list, and their product is
    appended to it. `batch` and `summed` are axes of each."""

    first: int
    second: int
    batch: tuple[tuple[int, ...], tuple[int, ...]]
    summed: tuple[tuple[int, ...], tuple[int, ...]]
    # For a product without a sum: for each operand the transposition, and the index that inserts
    # axes.
    aligned: tuple[tuple[tuple[int, ...], tuple[int | None, ...]], ...] | None


class _Plan(NamedTuple):
    preparations: tuple[_Preparation | None, ...]
    pairs: tuple[_Pair, ...]
    order: tuple[int, ...] | None
    # The axes of the contraction, if the plan is one contraction of two unreduced operands.
    direct: tuple[tuple[int, ...], ...] | None
    is_view: bool  # the result is a view of the only operand


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
        subscripts, arrays = _read_operands(operands)
    path = None if optimize is False or optimize is True else _path_in(optimize)
    wanted = None if order == "K" else _order_in(order, arrays)
    plan = _plan_for(subscripts, tuple([a.shape for a in arrays]), path)
    if plan.direct is not None and dtype is None:
        result = _core._contract("einsum", arrays[0], arrays[1], *plan.direct)
        if plan.order is not None:
            result = result.transpose(plan.order)
    else:
        result = _run(plan, _of_one_dtype(arrays, dtype, casting))
    if out is not None:
        if result.shape != out.shape:
            raise _core.ArgumentError(
                f"einsum: the result has shape {result.shape}, got an out of shape {out.shape}"
            )
        _core.copyto(out, result, casting="same_kind" if casting == "safe" else casting)
        return out
    if wanted is None or (plan.is_view and result.dtype == arrays[0].dtype):
        return result
    return _core._asarray(result, order=wanted)


def _order_in(order: Any, arrays: list[_core.Array]) -> str | None:
    """ "C", "F", or None for any order ("K"). "A" is "F" if all operands are F-contiguous, else
    "C"."""
    word = order.upper() if isinstance(order, str) else "C" if order is None else order
    if word not in ("C", "F", "A", "K"):
        raise _core.ArgumentError(
            f"einsum: order must be one of 'C', 'F', 'A', or 'K', got {order!r}"
        )
    if word == "A":
        return "F" if all(a.flags.f_contiguous for a in arrays) else "C"
    return None if word == "K" else word


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


def _read_operands(operands: tuple[Any, ...]) -> tuple[str | tuple[Any, ...], list[_core.Array]]:
    if not operands:
        raise _core.ArgumentError(
            "einsum: expected subscripts and at least one operand, got nothing"
        )
    if isinstance(operands[0], str):
        return operands[0], _as_arrays(operands[1:])
    # einsum(array, labels, array, labels, ...[, output labels])
    count = len(operands) // 2
    labels = tuple(tuple(_number_label(n) for n in operands[2 * i + 1]) for i in range(count))
    result = tuple(_number_label(n) for n in operands[-1]) if len(operands) % 2 else None
    return (labels, result), _as_arrays(operands[: 2 * count : 2])


def _number_label(label: Any) -> Any:
    if label is Ellipsis:
        return "..."
    if not hasattr(label, "__index__") or not 0 <= label.__index__() < 52:
        raise _core.ArgumentError(
            f"einsum: subscript is not within the valid range [0, 52): {label!r}; expected whole numbers"
        )
    number = label.__index__()
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _as_arrays(operands: Sequence[Any]) -> list[_core.Array]:
    if not operands:
        raise _core.ArgumentError(
            "einsum: no operands; expected one for each part of the subscripts"
        )
    return as_arrays(*operands)


def _path_in(optimize: Any) -> tuple[tuple[int, ...], ...] | None:
    """The path of numpy.einsum_path; None for "greedy", "optimal" and None, where the plan
    chooses."""
    if optimize is None or isinstance(optimize, str):
        if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
            raise _core.ArgumentError(
                f"einsum: optimize={optimize!r}; expected a bool, 'greedy', 'optimal' or a path"
            )
        return None
    if len(optimize) and optimize[0] == "einsum_path":
        return tuple(tuple(map(index, step)) for step in optimize[1:])
    # (method, memory limit); the limit is ignored.
    if len(optimize) == 2 and isinstance(optimize[0], str) and isinstance(optimize[1], int | float):
        return _path_in(optimize[0])
    raise TypeError(
        f"einsum: did not understand the path {optimize!r}; expected ['einsum_path', (0, 1), ...]"
    )


# ---- subscripts


def _parse(subscripts: Any, ranks: tuple[int, ...]) -> tuple[list[list[_Label]], list[_Label]]:
    """The labels of each operand and of the result."""
    if isinstance(subscripts, str):
        left, arrow, right = subscripts.replace(" ", "").partition("->")
        parts = [_tokens(part) for part in left.split(",")]
        result = _tokens(right) if arrow else None
    else:
        parts, result = [list(part) for part in subscripts[0]], subscripts[1]
    if len(parts) != len(ranks):
        word = "fewer" if len(parts) > len(ranks) else "more"
        raise _core.ArgumentError(
            f"einsum: {word} operands provided to einsum function than specified in the subscripts "
            f"string: {len(ranks)} and {len(parts)}"
        )
    inputs = [
        _expand(part, rank, i) for i, (part, rank) in enumerate(zip(parts, ranks, strict=True))
    ]
    dots = sorted({n for labels in inputs for n in labels if isinstance(n, int)})
    return inputs, _output(result, inputs, dots)


def _tokens(part: str) -> list[str]:
    tokens = []
    while part:
        token = "..." if part.startswith("...") else part[0]
        if token != "..." and not (token.isascii() and token.isalpha()):
            raise _core.ArgumentError(
                f"einsum: invalid subscript {token!r} in einstein sum subscripts string, subscripts must be "
                "letters, an ellipsis '...', ',' or '->'"
            )
        tokens.append(token)
        part = part[len(token) :]
    return tokens


def _expand(part: Sequence[str], rank: int, place: int) -> list[_Label]:
    if part.count("...") > 1:
        raise _core.ArgumentError(
            f"einsum: more than one ellipsis in the subscripts of operand {place}"
        )
    named = len(part) - part.count("...")
    if named > rank:
        raise _core.ArgumentError(
            "einsum: einstein sum subscripts string contains too many subscripts for operand "
            f"{place}: {named}, and it has {rank} axes"
        )
    if "..." not in part:
        if named < rank:
            raise _core.ArgumentError(
                "einsum: operand has more dimensions than subscripts given in einstein sum, but no "
                f"'...' ellipsis provided to broadcast the extra dimensions: operand {place} has {rank} "
                f"axes and {named} subscripts"
            )
        return list(part)
    at = part.index("...")
    return [*part[:at], *range(named - rank, 0), *part[at + 1 :]]


def _output(result: Any, inputs: list[list[_Label]], dots: list[int]) -> list[_Label]:
    counts = Counter(label for labels in inputs for label in labels)
    if result is None:
        letters = sorted(n for n, count in counts.items() if isinstance(n, str) and count == 1)
        return [*dots, *letters]
    output: list[_Label] = []
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


# ---- plans


@lru_cache(maxsize=512)
def _plan_for(
    subscripts: Any, shapes: tuple[tuple[int, ...], ...], path: tuple[tuple[int, ...], ...] | None
) -> _Plan:
    inputs, output = _parse(subscripts, tuple(map(len, shapes)))
    extents = _extents(inputs, shapes)
    preparations, terms = [], []
    # Axes of extent 1 that broadcast are left out.
    whole = [
        {n for n, size in zip(labels, shape, strict=True) if size == extents[n]}
        for labels, shape in zip(inputs, shapes, strict=True)
    ]
    for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        others = set(output).union(*whole[:i], *whole[i + 1 :])
        preparation, left = _prepare(labels, shape, whole[i], others, i)
        preparations.append(preparation)
        terms.append(left)
    pairs, last = _contractions(terms, output, extents, path)
    order = tuple(last.index(label) for label in output)
    direct = None
    if len(pairs) == 1 and preparations == [None, None] and pairs[0].aligned is None:
        direct = (*pairs[0].batch, *pairs[0].summed)
    return _Plan(
        tuple(preparations),
        tuple(pairs),
        None if order == tuple(range(len(last))) else order,
        direct,
        len(inputs) == 1 and not any(how is not None and how.summed for how in preparations),
    )


def _contractions(
    terms: list[_Labels],
    output: list[_Label],
    extents: dict[_Label, int],
    path: tuple[tuple[int, ...], ...] | None,
) -> tuple[list[_Pair], _Labels]:
    """The contractions in order, and the labels of the result. Within a step of the path, or
    without a path, the order is greedy by memory (_next_pair)."""
    pairs: list[_Pair] = []
    live = dict(enumerate(terms))  # id -> labels, in the order of the operand list of _run
    left = list(live)  # ids, in the order that the path's indices refer to

    def contract(numbers: list[int]) -> int:
        while len(numbers) > 1:
            one, two = sorted(_next_pair(numbers, live, output, extents))
            places = [list(live).index(number) for number in (one, two)]
            first, second = live.pop(one), live.pop(two)
            needed = {n for t in live.values() for n in t} | set(output)
            pair, made = _pair(places[0], places[1], first, second, needed)
            number = len(terms) + len(pairs)
            pairs.append(pair)
            live[number] = made
            numbers = [*(n for n in numbers if n not in (one, two)), number]
        return numbers[0]

    if path is None:
        return pairs, live[contract(left)]
    for step in path:
        if not step or any(not 0 <= place < len(left) for place in step):
            raise _core.BoundsError(
                f"einsum: the step {step} of the path names no operands; {len(left)} are left"
            )
        chosen = [left[place] for place in sorted(set(step))]
        left = [*(number for number in left if number not in chosen), contract(chosen)]
    if len(left) > 1:
        raise RuntimeError(
            f"einsum: invalid einsum_path: {len(left) - 1} more operands have to be contracted; "
            "add steps to the path"
        )
    return pairs, live[left[0]]


def _extents(inputs: list[list[_Label]], shapes: tuple[tuple[int, ...], ...]) -> dict[_Label, int]:
    extents: dict[_Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, extent in zip(labels, shape, strict=True):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                name = f"label {label!r}" if isinstance(label, str) else "an ellipsis' axis"
                raise _core.ArgumentError(
                    f"einsum: operands could not be broadcast together: {name} stands for extents {known} "
                    f"and {extent} (shapes {', '.join(map(str, shapes))})"
                )
    return extents


def _prepare(
    labels: list[_Label],
    shape: tuple[int, ...],
    whole: set[_Label],
    others: set[_Label],
    place: int,
) -> tuple[_Preparation | None, _Labels]:
    left, sizes = list(labels), list(shape)
    diagonals = []
    for label in dict.fromkeys(labels):
        while left.count(label) > 1:
            first = left.index(label)
            second = left.index(label, first + 1)
            if sizes[first] != sizes[second]:
                raise _core.ArgumentError(
                    f"einsum: dimensions in operand {place} for collapsing index {label!r} don't match "
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
    return _Preparation(tuple(diagonals), dropped, summed), tuple(left)


def _next_pair(
    numbers: list[int],
    live: dict[int, _Labels],
    output: list[_Label],
    extents: dict[_Label, int],
) -> tuple[int, int]:
    """The two of `numbers` whose product adds the fewest elements (its size less theirs)."""
    if len(numbers) == 2:
        return numbers[0], numbers[1]

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        one, two = live[pair[0]], live[pair[1]]
        needed = {n for k, t in live.items() if k not in pair for n in t} | set(output)
        both = set(one) | set(two)
        room = prod(extents[n] for n in both & needed)
        freed = prod(extents[n] for n in one) + prod(extents[n] for n in two)
        return room - freed, prod(extents[n] for n in both)

    return min(combinations(numbers, 2), key=cost)


def _pair(
    first: int, second: int, one: _Labels, two: _Labels, needed: set[_Label]
) -> tuple[_Pair, _Labels]:
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
    return _Pair(first, second, axes[0], axes[1], aligned), made


def _alignment(labels: _Labels, made: _Labels) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    order = tuple(labels.index(n) for n in made if n in labels)
    return order, tuple(slice(None) if n in labels else None for n in made)


# ---- running


def _run(plan: _Plan, arrays: list[_core.Array]) -> _core.Array:
    arrays = [
        a if how is None else _prepared(a, how)
        for a, how in zip(arrays, plan.preparations, strict=True)
    ]  # a new list: the loop removes from it
    for pair in plan.pairs:
        two, one = arrays.pop(pair.second), arrays.pop(pair.first)
        arrays.append(_product(one, two, pair))
    (result,) = arrays
    return result if plan.order is None else result.transpose(plan.order)


def _prepared(array: _core.Array, how: _Preparation) -> _core.Array:
    for first, second in how.diagonals:
        array = array.diagonal(0, first, second)
    if how.dropped:
        array = array[tuple(0 if i in how.dropped else slice(None) for i in range(array.ndim))]
    if how.summed:
        # In the operands' dtype, as NumPy: integers wrap around, bool is a logical or.
        if array.dtype == "bool":
            return array.any(axis=how.summed)
        return array.sum(axis=how.summed, dtype=array.dtype)
    return array


def _product(one: _core.Array, two: _core.Array, pair: _Pair) -> _core.Array:
    if pair.aligned is None:
        return _core._contract("einsum", one, two, *pair.batch, *pair.summed)
    (order_one, key_one), (order_two, key_two) = pair.aligned
    return _core.multiply(
        one.transpose(order_one)[key_one] if key_one else one,
        two.transpose(order_two)[key_two] if key_two else two,
    )
