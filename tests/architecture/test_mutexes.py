# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutexes are of types that work after a fork: spanwise::Mutex, OwnedMutex, and std::mutex inside
them."""

import re
from pathlib import Path

from support.tree import ROOT, tree_files

# They implement the types, or are given up as a whole in a child; a plug-in links no library of ours.
EXCEPTIONS = {
    Path(name)
    for name in (
        "sdk/include/spanwise/core/fork.hpp",
        "sdk/include/spanwise/op_sdk/plugin_call.hpp",
        "sdk/src/core/fork.cpp",
        "sdk/src/core/static_guards.cpp",
        "sdk/src/graph/execute/owned_mutex.hpp",
        "sdk/src/graph/execute/owned_mutex.cpp",
        "sdk/src/kernels/build_ticket.hpp",
        "sdk/src/backends/cpu/thread_pool.hpp",
    )
}
STANDARD = re.compile(r"std::(\w+_)?mutex\b|std::once_flag|std::call_once|pthread_atfork")


def test_only_fork_safe_mutex_types_are_used():
    found = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk", "ops", "bridges"), (".cpp", ".hpp", ".h"))
        if file not in EXCEPTIONS
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1)
        if STANDARD.search(line)
    ]
    assert not found, "\n".join(["", *found, "Use spanwise::Mutex; docs/adr/0013 says why."])
