# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of fault_injector.cpp, in a process that was started with it in LD_PRELOAD."""

from __future__ import annotations

import ctypes
import enum
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.tree import BUILD

LIBRARY = Path(os.environ.get("FINJ") or BUILD / "tests" / "faults" / "libsw_fault_injector.so")
#: Parts of the paths of libraries whose calls may fail: Spanwise's, kernels that it compiled, and
#: the C++ library, which allocates and opens files for them.
WATCHED = ("libspanwise", "/spanwise/_core", "libstdc++")


class Kind(enum.IntEnum):
    allocations = 1
    system_calls = 2


class Injector:
    def __init__(self, kind: Kind) -> None:
        self.kind, self.count = kind, 0
        is_memory = kind == Kind.allocations
        self.unit = "bytes" if is_memory else "descriptors or folders"
        self.rounds, self.warm_up = (5, 40) if is_memory else (3, 2)
        self._library = ctypes.CDLL(None)  # preloaded, so among the global symbols
        for name in ("sw_faults_disarm", "sw_faults_live_bytes"):
            getattr(self._library, name).restype = ctypes.c_long
        self._library.sw_faults_failed.restype = ctypes.c_char_p
        self._library.sw_faults_arm.argtypes = [
            ctypes.c_int,
            ctypes.c_long,
            ctypes.c_long,
            ctypes.c_int,
        ]
        self.watch()

    def watch(self) -> None:
        names = (ctypes.c_char_p * len(WATCHED))(*(name.encode() for name in WATCHED))
        self._library.sw_faults_watch(names, len(WATCHED))

    @contextmanager
    def failing(self, number: int, code: int) -> Iterator[None]:
        """Within it, call `number` of that kind fails, counted from 1."""
        self._library.sw_faults_arm(self.kind, number, number, code)
        try:
            yield
        finally:
            self.count = self._library.sw_faults_disarm()

    @property
    def failed(self) -> str:
        """The function whose call failed since failing() began; "" if none did."""
        return self._library.sw_faults_failed().decode()

    def live(self) -> int:
        """Bytes of malloc(); of system calls the open descriptors and the temporary folders."""
        if self.kind == Kind.system_calls:
            return len(os.listdir("/proc/self/fd")) + len(os.listdir(os.environ["TMPDIR"]))
        return self._library.sw_faults_live_bytes()

    def write_stack(self, file: int) -> None:
        self._library.sw_faults_write_stack(file)

    def write_crashes(self, file: int) -> None:
        """A crash of this process from now on writes its call stacks there."""
        self._library.sw_faults_write_crashes(file)
