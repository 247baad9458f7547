# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's containers are read through snapshots (python/support/python_values.hpp): a borrowed item, or a
length that was asked for before, is not valid once code of an item or another thread has run."""

import re

from support.tree import ROOT, project_files

#: Functions that return borrowed items of mutable containers, or read items by an earlier length.
BORROWING = re.compile(
    r"\b(PySequence_Fast\w*|PyList_(GET_ITEM|GetItem|GET_SIZE|Size)|PyDict_(Next|GetItem\w*)"
    r"|PyWeakref_GetObject|PyWeakref_GET_OBJECT|PyImport_GetModuleDict|PyImport_AddModule)\b"
    r"|cast<py::(list|dict|sequence)>|reinterpret_borrow<py::(list|sequence)>"
)
#: file: why no other code runs between reading an item, or the length, and using it
ALLOWED = {
    "sdk/python/support/python_values.hpp": "makes the snapshots",
    "sdk/python/interop/nested_sequence.cpp": "asks for the length again at each item, and holds the item",
    "ops/shape/join_py.cpp": "reads lists of Spanwise's arrays and calls nothing of Python meanwhile",
    "sdk/python/interop/foreign_description.cpp": "takes a reference in the next line",
    "bridges/gnumpy/gnumpy_bridge_py.cpp": "holds the list, and reads it by index with a check",
    "bridges/cupy/cupy_bridge_py.cpp": "reads a C pointer out of the capsule at once",
    "bridges/dlpack/dlpack_bridge_py.cpp": "compares a str at once",
}


def test_containers_that_change_are_read_through_snapshots():
    violations = []
    for file in project_files():
        if file.suffix not in {".cpp", ".hpp"} or str(file) in ALLOWED:
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if match := BORROWING.search(line.split("//")[0]):
                violations.append(f"{file}:{number}: {match[0]}")
    assert not violations, "\n".join(
        [
            "",
            *violations,
            "Use items_of(), entries_of() or loaded_module() of python/support/python_values.hpp.",
        ]
    )


def test_each_allowed_file_still_needs_its_exception():
    unused = [file for file in ALLOWED if not BORROWING.search((ROOT / file).read_text())]
    assert not unused


def test_member_functions_are_bound_through_member():
    bare = re.compile(r'\.def(?:_property_readonly)?\(\s*"([^"]+)",\s*&[A-Z]\w*::')
    violations = [
        f"{file}: {match[1]}"
        for file in project_files()
        if file.suffix == ".cpp"
        for match in bare.finditer((ROOT / file).read_text())
    ]
    assert not violations, f"write member(&T::f), which refuses None for the object: {violations}"
