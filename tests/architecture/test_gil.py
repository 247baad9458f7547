# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""One pair of classes releases and takes the GIL: sdk/python/support/gil.hpp."""

import re
from pathlib import Path

from support.tree import ROOT, tree_files

GUARDS = {Path("sdk/python/support/gil.hpp"), Path("sdk/python/support/gil.cpp")}
DIRECT = re.compile(
    r"gil_scoped_(release|acquire)|PyEval_(Save|Restore|Acquire|Release)\w+|PyGILState_(Ensure|Release)\b"
    r"|Py_(BEGIN|END)_ALLOW_THREADS"
)
# The initialiser of a static variable is waited for with the GIL held, so it must not run Python.
RUNS_PYTHON = re.compile(
    r"^\s+static (?!constexpr|constinit)[^()]*=\s*\*?(\S+ )?(py::|pybind11::|Py[A-Z_]\w*\()"
)


def test_only_the_guard_classes_release_and_take_the_gil():
    found = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk", "ops", "bridges"), (".cpp", ".hpp", ".h"))
        if file not in GUARDS
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1)
        if DIRECT.search(line)
    ]
    assert not found, "\n".join(
        ["", *found, "Use GilRelease or GilAcquire of python/support/gil.hpp."]
    )


def test_no_static_variable_is_initialised_by_python():
    found = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk/python", "ops", "bridges"), (".cpp", ".hpp"))
        for number, line in enumerate(joined((ROOT / file).read_text()).splitlines(), 1)
        if RUNS_PYTHON.search(line)
    ]
    assert not found, "\n".join(
        ["", *found, "Make it constinit and null, and set it under the GIL where it is null."]
    )


def joined(text: str) -> str:
    """With what the formatter puts on the line after an equals sign."""
    return re.sub(r"=\n\s+", "= ", text)
