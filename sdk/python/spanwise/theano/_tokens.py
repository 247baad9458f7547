# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens of Python source of any version; the standard library's reject those of Python 2."""

from __future__ import annotations

import re
from typing import NamedTuple

_STRING = r"""[uUbBrR]{0,2}(?:\"{3}(?:\\.|(?!\"{3}).)*\"{3}|'{3}(?:\\.|(?!'{3}).)*'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_KINDS = {
    "comment": r"#[^\n]*",
    "string": _STRING,
    "space": r"(?:[ \t\f]|\\\r?\n)+",
    "newline": r"\r?\n",
    "number": r"0[xXoObB][0-9a-fA-F]+[lL]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[jJlL]?",
    "name": r"[^\W\d]\w*",
    "operator": r"<>|!=|==|<=|>=|\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^]=?|.",
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{text})" for kind, text in _KINDS.items()), re.DOTALL)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


def tokens_of(source: str) -> list[Token]:
    """All characters of `source` as tokens: comment, string, space (with continued lines), newline,
    number, name, operator."""
    return [Token(m.lastgroup or "", m.group(), m.start()) for m in _TOKEN.finditer(source)]
