# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a test knows of a construct of CUDA C that runs, or that the CPU refuses to compile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """The kernel `name` of `source`, a template instance if it contains '<', uses the construct.

    `title` and `note` are in docs/host-execution.md; `arguments` follow `out` in the launch.
    """

    title: str
    source: str
    name: str = "k"
    arguments: tuple[object, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        return self.title.replace(" ", "_")


@dataclass(frozen=True)
class Refusal:
    """Compiling `source` for the CPU raises an error with all `words`: the line, the construct, a remedy."""

    title: str
    source: str
    words: tuple[str, ...]
    runs_on_gpu: bool = True

    def __str__(self) -> str:
        return self.title.replace(" ", "_")
