# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables that have a value: ``w = sw.shared(values, "w")``; and names for devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._config import config
from .._core import SharedVariable


def shared(
    value: Any, name: str | None = None, *, borrow: bool = False, target: Any = None
) -> SharedVariable:
    """A variable with a value of its own, which functions read at each call and change by `updates`.

    `value` is an array of any library, a number or nested lists; it is copied unless `borrow` allows to
    share it. It lives on `target`, a device or a context of ``using``: by default the default device, and
    integers of rank 0 on the host.
    """
    return _core._shared(value, name, borrow, target)


@contextmanager
def using(contexts: str) -> Iterator[None]:
    """Names devices inside the block: ``with sw.using("dev0->cuda:0;dev1->cuda:1"):``.

    A name then stands for its device wherever a device is asked for. Names set outside stay;
    ``SPANWISE_CONTEXTS`` sets them for the whole program.
    """
    outside = config.contexts
    with config.change(contexts=f"{outside};{contexts}" if outside else contexts):
        yield
