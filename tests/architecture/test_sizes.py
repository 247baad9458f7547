# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""No folder of sources has more than 40 entries, and no source more than 300 lines."""

from pathlib import Path

from support.tree import ROOT, project_files

MAX_ENTRIES, MAX_LINES = 40, 300
FOLDERS = ("sdk", "ops", "bridges", "addons", "tests", "benchmarks", "scripts", "examples", "cmake")
SUFFIXES = {*(".py", ".pyi", ".c", ".cpp", ".h", ".hpp", ".inc", ".cu", ".cuh", ".txt", ".cmake")}


def sources() -> list[Path]:
    return [path for path in project_files() if path.parts[0] in FOLDERS]


def test_no_folder_of_sources_has_more_than_40_entries():
    entries: dict[Path, set[str]] = {}
    for path in sources():
        for below in (path, *path.parents[:-1]):
            entries.setdefault(below.parent, set()).add(below.name)
    del entries[Path()]
    crowded = {str(folder): len(names) for folder, names in entries.items()}
    crowded = {folder: count for folder, count in crowded.items() if count > MAX_ENTRIES}
    assert not crowded, f"{crowded}: move files that belong together to a new folder"


def test_no_source_has_more_than_300_lines():
    lines = {
        str(path): (ROOT / path).read_text().count("\n")
        for path in sources()
        if path.suffix in SUFFIXES
    }
    long = {name: count for name, count in lines.items() if count > MAX_LINES}
    assert not long, f"{long}: move one of its ideas to another file"
