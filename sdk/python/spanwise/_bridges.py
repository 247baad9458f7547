# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The table behind ``sw.bridges()``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from ._core import _bridge_rows


@dataclass(frozen=True)
class BridgeInfo:
    """One bridge: the library it supports, and its exchanges in this process so far."""

    name: str
    library: str  #: the module whose arrays it converts; "" for a protocol
    version: str | None  #: of the library; None: not installed, "unknown": no version found
    directions: str  #: "in" or "in, out"
    protocols: str
    shared: int  #: exchanges that shared memory
    copies: int  #: exchanges that copied
    bytes_copied: int


class Bridges(list[BridgeInfo]):
    """A list of BridgeInfo that prints as a table."""

    def __str__(self) -> str:
        head = ("bridge", "version", "directions", "shared", "copies", "bytes copied", "protocols")
        rows = [head, *(_cells(info) for info in self)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    __repr__ = __str__


def bridges() -> Bridges:
    return Bridges(_info(row) for row in _bridge_rows())


def _info(row: dict) -> BridgeInfo:
    return BridgeInfo(
        name=row["name"],
        library=row["module"],
        version=_version(row["module"]) if row["module"] else None,
        directions="in, out" if row["exports"] else "in",
        protocols=row["protocols"],
        shared=row["imports_shared"] + row["exports_shared"],
        copies=row["imports_copied"] + row["exports_copied"],
        bytes_copied=row["bytes_copied"],
    )


def _version(module: str) -> str | None:
    """The version of `module`, found without importing it; None where it is not installed."""
    if loaded := getattr(sys.modules.get(module), "__version__", None):
        return str(loaded)
    # The distribution's name may differ from the module's: cupy-cuda13x has the module cupy.
    for distribution in _distributions().get(module, ()):
        return metadata.version(distribution)
    # A single-file module next to the program, such as Gnumpy, has no distribution.
    return "unknown" if module in sys.modules else None


#: Module -> distributions; cached, as it reads the metadata of every installed package.
_distributions = cache(metadata.packages_distributions)


def _cells(info: BridgeInfo) -> tuple[str, ...]:
    version = info.version or ("not installed" if info.library else "")
    numbers = (str(n) for n in (info.shared, info.copies, info.bytes_copied))
    return (info.name, version, info.directions, *numbers, info.protocols)
