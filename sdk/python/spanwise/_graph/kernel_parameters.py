# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The declared inputs and outputs of a kernel op, "name: layout dtype[extents]", once ``_core`` has
accepted them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_DECLARED = re.compile(r"\s*(\w+)\s*:\s*(\w+)\s+(\w+)\s*(?:\[(.*)\])?\s*", re.DOTALL)


class KernelParameter(NamedTuple):
    """A declared array. `dtype` is a dtype's name or a letter, `extents` the expressions."""

    name: str
    dtype: str
    extents: tuple[str, ...]

    @property
    def has_letter(self) -> bool:
        return len(self.dtype) == 1


def kernel_parameters(declaration: Mapping[str, Any], kind: str) -> list[KernelParameter]:
    """The arrays of a kernel op's declaration; `kind` is "inputs" or "outputs"."""
    return [_parse_parameter(text) for text in declaration[kind]]


def _parse_parameter(text: str) -> KernelParameter:
    match = _DECLARED.fullmatch(text)
    assert match is not None, text
    name, _, dtype, extents = match.groups()
    return KernelParameter(name, dtype, _extents(extents or ""))


def _extents(text: str) -> tuple[str, ...]:
    """The expressions in `text`, which commas outside parentheses separate."""
    expressions, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            expressions.append("")
        else:
            expressions[-1] += character
    return tuple(filter(None, map(str.strip, expressions)))
