# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One pair of classes releases and takes the GIL: spanwise/python/binding.hpp."""

import re
from pathlib import Path

from support.tree import ROOT, tree_files

GUARDS = {
    Path("sdk/include/spanwise/python/binding.hpp"),
    Path("sdk/python/support/gil.cpp"),
}
DIRECT = re.compile(
    r"gil_scoped_(release|acquire)|PyEval_(Save|Restore|Acquire|Release)\w+|PyGILState_(Ensure|Release)\b"
    r"|Py_(BEGIN|END)_ALLOW_THREADS"
)
# A thread may hold the GIL while it waits for another's initialiser of a static variable, which
# therefore must not need the GIL.
RUNS_PYTHON = re.compile(
    r"^\s+static (?!constexpr|constinit)[^()]*=\s*\*?(\S+ )?(py::|pybind11::|Py[A-Z_]\w*\()"
)


def test_only_the_guard_classes_release_and_take_the_gil():
    violations = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk", "ops", "bridges", "addons"), (".cpp", ".hpp", ".h"))
        if file not in GUARDS
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1)
        if DIRECT.search(line)
    ]
    assert not violations, "\n".join(
        ["", *violations, "Use GilRelease or GilAcquire of spanwise/python/binding.hpp."]
    )


def test_no_static_variable_is_initialised_by_python():
    violations = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk/python", "ops", "bridges", "addons"), (".cpp", ".hpp"))
        for number, line in enumerate(joined((ROOT / file).read_text()).splitlines(), 1)
        if RUNS_PYTHON.search(line)
    ]
    assert not violations, "\n".join(
        ["", *violations, "Make it constinit and null, and set it under the GIL where it is null."]
    )


def joined(text: str) -> str:
    """The text with initialisers on the line of their equals sign."""
    return re.sub(r"=\n\s+", "= ", text)
