# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Decision records name files and identifiers that exist."""

import functools
import re

from support.tree import ROOT, project_files

SUFFIXES = {".cpp", ".hpp", ".h", ".cuh", ".inc", ".py", ".pyi", ".cmake", ".txt", ".map", ".toml"}
FILE_SUFFIXES = (".hpp", ".cpp", ".h", ".cuh", ".py", ".md")
QUOTED = re.compile(r"`([A-Za-z_][\w:.]*(?:/[\w.]*)*)(?:\(\))?`")
# Of other projects, not in our sources.
FOREIGN = {
    *("PyArrayObject", "numpy.h", "jax.grad", "jax.pure_callback", "longjmp"),
    *("cuda.h", "cuMemAllocAsync", "std::uncaught_exceptions"),
}
FOLDERS = ("sdk", "ops", "bridges", "addons", "tests", "benchmarks", "cmake", "examples", "scripts")


@functools.cache
def words() -> frozenset[str]:
    """The identifiers of all sources."""
    found: set[str] = set()
    for file in project_files():
        if file.suffix in SUFFIXES and file.parts[0] in FOLDERS:
            found.update(re.findall(r"\w+", (ROOT / file).read_text()))
    return frozenset(found)


def exists(name: str) -> bool:
    if "/" in name or name.endswith(FILE_SUFFIXES):
        wanted = f"/{name.rstrip('/')}"
        return any(
            f"/{file}".endswith(wanted) or f"{wanted}/" in f"/{file}" for file in project_files()
        )
    return re.split(r"[:.]+", name.rstrip(":."))[-1] in words()


def test_decision_records_name_existing_files_and_identifiers():
    wrong = []
    for record in sorted((ROOT / "docs" / "adr").glob("0*.md")):
        for name in QUOTED.findall(record.read_text()):
            if name not in FOREIGN and not exists(name):
                wrong.append(
                    f"{record.relative_to(ROOT)}: `{name}` is neither a file nor a name in sources"
                )
    assert not wrong, "\n".join(["", *wrong])
