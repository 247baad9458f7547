# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A construct of CUDA C with a kernel that uses it, and one that the CPU refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """`name` contains '<' for a template instance; `arguments` follow `out`."""

    title: str
    source: str
    name: str = "k"
    arguments: tuple[object, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        return self.title.replace(" ", "_")


@dataclass(frozen=True)
class Refusal:
    """The CPU's error contains `words`, among them the construct and the line."""

    title: str
    source: str
    words: tuple[str, ...]
    runs_on_gpu: bool = True

    def __str__(self) -> str:
        return self.title.replace(" ", "_")
