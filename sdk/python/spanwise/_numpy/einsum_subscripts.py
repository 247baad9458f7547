# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The subscripts of einsum: from text or lists to labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .. import _core

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
