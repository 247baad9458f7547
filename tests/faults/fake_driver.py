# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of fake_driver.cpp, in a process that was started with its folder in
LD_LIBRARY_PATH."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.tree import BUILD

FOLDER = Path(os.environ.get("FAKED") or BUILD / "tests" / "faults" / "driver")
RESOURCES = (
    *("memory", "host memory", "pool", "stream", "event", "library", "graph"),
    "executable graph",
)


class FakeDriver:
    unit, rounds, warm_up = "objects of the driver", 4, 10

    def __init__(self) -> None:
        self.count = 0
        self._library = ctypes.CDLL(str(FOLDER / "libcuda.so.1"))
        for name in ("sw_fake_disarm", "sw_fake_launches", "sw_fake_resources"):
            getattr(self._library, name).restype = ctypes.c_long
        self._library.sw_fake_failed.restype = ctypes.c_char_p
        self._library.sw_fake_arm.argtypes = [ctypes.c_long, ctypes.c_int]

    def watch(self) -> None:
        pass

    @contextmanager
    def failing(self, number: int, code: int) -> Iterator[None]:
        """Within it, call `number` of the driver returns `code`."""
        self._library.sw_fake_arm(number, code)
        try:
            yield
        finally:
            self.count = self._library.sw_fake_disarm()

    @property
    def failed(self) -> str:
        """The function that failed since failing() began; "" if none did."""
        return self._library.sw_fake_failed().decode()

    def launches(self) -> int:
        return self._library.sw_fake_launches()

    def live(self) -> int:
        """Objects that exist."""
        return sum(self._library.sw_fake_resources(kind.encode()) for kind in RESOURCES)

    def write_stack(self, file: int) -> None:
        pass

    def write_crashes(self, file: int) -> None:
        pass
