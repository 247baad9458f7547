# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The constructs of CUDA C that docs/host-execution.md lists, each with a kernel that uses it.

Every kernel of RUNS is launched with 64 threads and 1024 bytes of dynamic shared memory and leaves t + 1
in out[t]; those of REFUSALS run on a GPU only.
"""

from . import declarations, groups, headers, libraries, memory, numbers, shared_memory, threads
from .refusals import REFUSALS as REFUSALS

RUNS = [
    *declarations.RUNS,
    *shared_memory.RUNS,
    *memory.RUNS,
    *threads.RUNS,
    *headers.RUNS,
    *numbers.RUNS,
    *groups.RUNS,
    *libraries.RUNS,
]
