# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of a host launcher before it is called: types of its pointers, device code."""

from __future__ import annotations

import mmap
from difflib import get_close_matches

from .. import _core

#: Types of C that a misspelt type may be meant for.
_C_TYPES = [
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "size_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "float2",
    "float3",
    "float4",
    "double2",
    "int2",
    "int3",
    "int4",
    "half",
]
_QUALIFIERS = ("const", "volatile", "restrict", "__restrict__", "__restrict")


def refuse_unknown(name: str, position: int, declared: str) -> None:
    """Raises KernelArgumentError for a pointer to one unknown word, such as a misspelt type."""
    words = [word for word in declared.replace("*", " ").split() if word not in _QUALIFIERS]
    if len(words) != 1 or words[0] in ("void", *_C_TYPES):
        return
    similar = get_close_matches(words[0], _C_TYPES, 1)
    meant = f"write {similar[0]!r} if that is meant, " if similar else "write "
    raise _core.KernelArgumentError(
        f"launcher {name!r}, parameter {position}: expected a pointer to a type of C or CUDA, got {declared!r}. Remedy: "
        f"{meant}'struct {words[0]}' for a type of the library, or 'void'"
    )


def has_device_code(path: str) -> bool:
    """Whether the shared library `path` was built by nvcc: it has the section of device code."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.rfind(b"\0.nv_fatbin\0") >= 0
    except (OSError, ValueError):
        return False  # found by the loader, or without a file
