# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Python's containers are read through snapshots (support/snapshot.hpp): a borrowed item, or a
length that was asked for before, is not valid once code of an item or another thread has run."""

import re

from support.tree import ROOT, project_files

#: What gives out borrowed items of containers that change, or reads them by a remembered length.
BORROWING = re.compile(
    r"\b(PySequence_Fast\w*|PyList_(GET_ITEM|GetItem|GET_SIZE|Size)|PyDict_(Next|GetItem\w*)"
    r"|PyWeakref_GetObject|PyWeakref_GET_OBJECT|PyImport_GetModuleDict|PyImport_AddModule)\b"
    r"|cast<py::(list|dict|sequence)>|reinterpret_borrow<py::(list|sequence)>"
)
#: file: why nothing runs between the look and the use
ALLOWED = {
    "sdk/python/support/snapshot.hpp": "makes the snapshots",
    "sdk/python/interop/sequence.cpp": "asks for the length again at each item, and holds the item",
    "ops/shape/join_py.cpp": "looks at the items of lists of Spanwise's arrays alone, in C++ alone",
    "sdk/python/interop/interface.cpp": "takes a reference in the next line",
    "bridges/gnumpy/reuse_cache_py.cpp": "holds the list, and reads it by index with a check",
    "bridges/cupy/cupy_bridge_py.cpp": "reads a C pointer out of the capsule at once",
    "bridges/dlpack/dlpack_methods_py.cpp": "compares a str at once",
}


def test_containers_that_change_are_read_through_snapshots():
    found = []
    for file in project_files():
        if file.suffix not in {".cpp", ".hpp"} or str(file) in ALLOWED:
            continue
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
            if match := BORROWING.search(line.split("//")[0]):
                found.append(f"{file}:{number}: {match[0]}")
    assert not found, "\n".join(
        [
            "",
            *found,
            "Use items_of(), entries_of() or loaded_module() of python/support/snapshot.hpp.",
        ]
    )


def test_each_allowed_file_still_needs_its_exception():
    unused = [file for file in ALLOWED if not BORROWING.search((ROOT / file).read_text())]
    assert not unused


def test_member_functions_are_bound_through_member():
    bare = re.compile(r'\.def(?:_property_readonly)?\(\s*"([^"]+)",\s*&[A-Z]\w*::')
    found = [
        f"{file}: {match[1]}"
        for file in project_files()
        if file.suffix == ".cpp"
        for match in bare.finditer((ROOT / file).read_text())
    ]
    assert not found, f"write member(&T::f), which refuses None for the object: {found}"
