# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutexes are of types that work after a fork: spanwise::Mutex, OwnedMutex, and std::mutex inside
them."""

import re
from pathlib import Path

from support.tree import ROOT, tree_files

# These files implement the types, or have objects that a forked child abandons as a whole;
# plugin_call.hpp is compiled into plug-ins, which link no library of Spanwise.
EXCEPTIONS = {
    Path(name)
    for name in (
        "addons/collectives/include/spanwise/collectives/communicator.hpp",
        "sdk/include/spanwise/core/fork.hpp",
        "sdk/include/spanwise/plugin.hpp",
        "sdk/src/core/fork.cpp",
        "sdk/src/core/static_guards.cpp",
        "sdk/src/graph/owned_mutex.hpp",
        "sdk/src/graph/owned_mutex.cpp",
        "sdk/src/kernels/module_cache.cpp",
        "sdk/src/backends/cpu/thread_pool.hpp",
    )
}
STANDARD = re.compile(r"std::(\w+_)?mutex\b|std::once_flag|std::call_once|pthread_atfork")


def test_only_fork_safe_mutex_types_are_used():
    violations = [
        f"{file}:{number}: {line.strip()}"
        for file in tree_files(("sdk", "ops", "bridges", "addons"), (".cpp", ".hpp", ".h"))
        if file not in EXCEPTIONS
        for number, line in enumerate((ROOT / file).read_text().splitlines(), 1)
        if STANDARD.search(line)
    ]
    assert not violations, "\n".join(
        ["", *violations, "Use spanwise::Mutex; docs/adr/0013 says why."]
    )
