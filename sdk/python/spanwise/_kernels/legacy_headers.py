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
    """An included header that is in none of the searched folders. `handling` is "replaced", "left
    out", or "" for a header that Spanwise does not have; see _core._header_on_cpu()."""

    name: str
    file: str
    line: int
    handling: str


def find_headers(
    path: Path, include_dirs: list[Path]
) -> tuple[tuple[Header, ...], dict[Path, Path | None]]:
    """The headers that are in none of the searched folders; and for each other header the path of a
    copy of it, relative to a copy of the file, where the same #include finds it, or None."""
    missing: dict[str, Header] = {}
    copies: dict[Path, Path | None] = {}
    unread = [path]
    while unread:
        file = unread.pop(0)
        for text, line in _core._outline(file.read_text(encoding="utf-8", errors="replace"))[0]:
            include = _INCLUDE.match(text)
            if include is None:
                continue
            name = include[2]
            # Searched folder -> the folder of copies of its headers.
            copy_of_file = copies.get(file, Path(path.name))
            folders = (
                {file.parent: copy_of_file and copy_of_file.parent} if include[1] == '"' else {}
            )
            for searched in (path.parent, *include_dirs):
                folders.setdefault(searched, Path())
            folder = next((d for d in folders if (d / name).is_file()), None)
            if folder is None:
                handling = _core._header_on_cpu(name)
                is_installed = any((Path(d) / name).is_file() for d in _SYSTEM_FOLDERS)
                if handling != "known" and (handling or not is_installed):
                    missing.setdefault(name, Header(name, file.name, line, handling))
            elif folder / name not in copies:
                target = folders[folder]
                copies[folder / name] = None if target is None or ".." in name else target / name
                unread.append(folder / name)
    return tuple(missing.values()), copies
