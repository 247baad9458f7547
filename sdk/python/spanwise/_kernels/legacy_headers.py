# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The headers that a CUDA C file includes, directly or through others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .. import _core

_INCLUDE = re.compile(r'#\s*include\s*(["<])([^">]+)[">]')
_SYSTEM_FOLDERS = ("/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu")


class Header(NamedTuple):
    """An #include that needs attention. `handling` is that of _core._header_on_cpu()."""

    name: str
    file: str
    line: int
    handling: str


def find_headers(
    path: Path, include_dirs: list[Path]
) -> tuple[tuple[Header, ...], dict[Path, Path | None]]:
    """The headers that need attention; and the place of each found header below the folder of a copy
    of the file, where the same #include finds it, or None if there is no such place."""
    needed: dict[str, Header] = {}
    found: dict[Path, Path | None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop(0)
        for text, line in _core._outline(file.read_text(encoding="utf-8", errors="replace"))[0]:
            include = _INCLUDE.match(text)
            if include is None:
                continue
            name = include[2]
            beside = found.get(file, Path(path.name))
            places = {file.parent: beside and beside.parent} if include[1] == '"' else {}
            for folder in (path.parent, *include_dirs):
                places.setdefault(folder, Path())
            there = next((d for d in places if (d / name).is_file()), None)
            if there is None:
                handling = _core._header_on_cpu(name)
                is_present = any((Path(folder) / name).is_file() for folder in _SYSTEM_FOLDERS)
                if handling != "known" and (handling or not is_present):
                    needed.setdefault(name, Header(name, file.name, line, handling))
            elif there / name not in found:
                place = places[there]
                found[there / name] = None if place is None or ".." in name else place / name
                waiting.append(there / name)
    return tuple(needed.values()), found
