# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the ops for ``x[i]``. Theano's name holds the types of the integers of an index; their
values are inputs of the node."""

from __future__ import annotations

from typing import Any

from .._graph.op import recipe_of
from . import _op_kinds as kinds

INCREMENTS = {"set_subtensor": "Set", "inc_subtensor": "Inc"}


def operand_count(node: Any) -> int:
    """How many inputs of a node for ``x[i]`` precede those of the index."""
    return 2 if node.op.recipe[0] in INCREMENTS else 1


def integers_of(node: Any) -> list[list[str]] | None:
    """The integers of each entry of the index of `node`: one, or start, stop and step; "?" is an
    input, "" an integer that is missing; a new axis is a full slice. None if `node` is another op,
    or if the index has arrays."""
    name, _ = recipe_of(node.op)
    if name != "subtensor" and name not in INCREMENTS:
        return None
    entries = _entries(node)
    if "[]" in entries:
        return None
    entries = [":" if entry == "None" else entry for entry in entries]
    return [[*e.split(":"), ""][:3] if ":" in e else [e] for e in entries]


def _entries(node: Any) -> list[str]:
    """The entries of an index, without an Ellipsis."""
    entries = node.op.recipe[1]["index"].split(", ")
    if "..." in entries:
        i = entries.index("...")
        rank = node.inputs[0].ndim + entries.count("None")
        entries[i : i + 1] = [":"] * (rank - len(entries) + 1)
    return entries


def new_axes_of(node: Any) -> list[Any] | None:
    """The axes of x for ``x[i]``, "x" where the index has a new axis; None if it has none."""
    entries = _entries(node)
    if "None" not in entries:
        return None
    axes = iter(range(node.inputs[0].ndim))
    order = ["x" if entry == "None" else next(axes) for entry in entries]
    return [*order, *axes]


def index_name(node: Any) -> tuple[type[kinds.ProgramOp], str]:
    """The class of the op of `node`, which is for ``x[i]``, and its name."""
    name, settings = node.op.recipe
    entries = integers_of(node)
    is_read = name == "subtensor"
    if entries is not None:
        types = (str(v.dtype) for v in node.inputs[operand_count(node) :])
        order = new_axes_of(node)
        if is_read and order is not None and not any(map(any, entries)):
            return kinds.DimShuffle, f"InplaceDimShuffle{{{','.join(map(str, order))}}}"
        # A missing integer stays "".
        named = [[i and (next(types) if i == "?" else "int64") for i in each] for each in entries]
        text = ", ".join(map(":".join, named))
        if is_read:
            return kinds.Subtensor, f"Subtensor{{{text}}}"
        inplace = "Inplace" if node.op.destroy_map else ""
        return kinds.IncSubtensor, f"IncSubtensor{{{inplace}{INCREMENTS[name]};{text}}}"
    is_of_rows = settings["index"] == "[]" and node.inputs[-1].dtype != "bool"
    if is_read:
        kind = kinds.AdvancedSubtensor1 if is_of_rows else kinds.AdvancedSubtensor
        return kind, kind.__name__
    inplace, is_set = bool(node.op.destroy_map), name == "set_subtensor"
    if is_of_rows:
        text = f"{'inplace' if inplace else 'no_inplace'},{INCREMENTS[name].lower()}"
        return kinds.AdvancedIncSubtensor1, f"AdvancedIncSubtensor1{{{text}}}"
    text = f"inplace={inplace},  set_instead_of_inc={is_set}"
    return kinds.AdvancedIncSubtensor, f"AdvancedIncSubtensor{{{text}}}"
