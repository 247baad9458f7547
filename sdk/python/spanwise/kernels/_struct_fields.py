# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of the structs that kernels take, compared with those of the arguments."""

import functools
import re
from typing import Any

from .. import _core

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_DECLARATOR = re.compile(
    r"(?P<stars>[\s*]*)(?P<name>[A-Za-z_]\w*)\s*(?P<extents>(\[\s*\d+\s*\]\s*)*)"
)
_FIRST = re.compile(rf"\s*(?P<type>\w[\w\s]*?(?=[\s*]))\s*{_DECLARATOR.pattern}")


@functools.lru_cache(maxsize=64)
def _offsets(source: str, name: str) -> dict[str, int | None]:
    """The fields of the only definition of struct `name`: their offsets, None behind a type of unknown
    size. Empty for a definition that has more than plain fields."""
    text = " ".join(_COMMENT.sub(" ", source).split())
    bodies = re.findall(
        rf"\bstruct\s+{name}\s*{{([^{{}}]*)}}|\btypedef\s+struct\s*\w*\s*{{([^{{}}]*)}}\s*{name}\s*;",
        text,
    )
    offsets: dict[str, int | None] = {}
    end: int | None = 0
    for declaration in "".join(bodies[0]).split(";") if len(bodies) == 1 else ():
        first, *others = declaration.split(",")
        match = _FIRST.fullmatch(first)
        matches = [match, *(_DECLARATOR.fullmatch(other.strip()) for other in others)]
        if not declaration.strip():
            continue
        if match is None or None in matches:
            return {}
        for each in filter(None, matches):
            size = 8 if "*" in each["stars"] else _size(match["type"])
            end = -(-end // size) * size if end is not None and size else None
            offsets[each["name"]] = end
            for count in re.findall(r"\d+", each["extents"]):
                size *= int(count)
            end = None if end is None else end + size
    return offsets


def _size(c_type: str) -> int:
    """The size of a real type, which is its alignment; 0 for other types."""
    ((*_, parameters),) = _core._scan_kernels(f"__global__ void f({c_type} x) {{}}")
    dtype = parameters[0].dtype
    return 0 if dtype is None or dtype.kind == "c" else dtype.itemsize


@functools.lru_cache(maxsize=64)
def field_mismatch(source: str, c_type: str, dtype: Any) -> str:
    """Which field of `dtype`, a numpy.dtype or a class of ctypes, is not at the offset, or not in the
    order, of the field of that name of the struct in `source` that `c_type` is or points to; "" if
    there is none."""
    names = re.sub(r"\b(const|volatile|__restrict(__)?|struct)\b|\W", " ", c_type).split()
    own = getattr(dtype, "fields", None) or {}
    before, last = "", -1
    for field, expected in _offsets(source, names[0]).items() if len(names) == 1 else ():
        at = own[field][1] if field in own else getattr(getattr(dtype, field, None), "offset", None)
        if at is None:
            continue
        if at < last or (expected is not None and at != expected):
            place = f"byte {expected}" if expected is not None else f"it behind {before!r}"
            return (
                f"the fields of {dtype} are not where {c_type!r} has them: {field!r} is at byte {at}, "
                f"expected {place}. Remedy: declare them in the struct's order, np.dtype([...], align=True)"
            )
        before, last = field, at
    return ""
