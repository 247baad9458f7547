# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The entry point "dask.sizeof": the bytes of an array for Dask's scheduling and spilling.

Dask imports this module during its own import, so the module imports nothing of Dask.
"""

from __future__ import annotations

from typing import Any


def size_of_array(x: Any) -> int:
    """The bytes of the array's elements; those of an axis of stride 0 are counted once."""
    size = x.itemsize
    for extent, stride in zip(x.shape, x.strides, strict=True):
        size *= extent if stride else min(extent, 1)
    return size


def register(sizeof: Any) -> None:
    """Registers size_of_array at the first array of spanwise that Dask measures."""

    @sizeof.register_lazy("spanwise")
    def register_spanwise() -> None:
        from . import Array

        sizeof.register(Array, size_of_array)
