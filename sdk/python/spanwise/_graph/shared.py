# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared variables, ``w = sw.shared(values, "w")``, and ``sw.using``, which names devices."""

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
    """A variable with a value, which functions read at each call and change by `updates`.

    `value` is an array of any library, a number or nested lists; it is copied unless `borrow`
    allows sharing its memory. The variable is on `target` (a device or a name of ``using``), by
    default on the default device, for integers of rank 0 on the host.
    """
    return _core._shared(value, name, borrow, target)


@contextmanager
def using(contexts: str) -> Iterator[None]:
    """Context manager that names devices: ``with sw.using("dev0->cuda:0;dev1->cuda:1"):``.

    A name is accepted wherever a device is. Names of enclosing blocks stay valid; the environment
    variable ``SPANWISE_CONTEXTS`` (the setting ``contexts``) names devices for the whole process.
    """
    outside = config.contexts
    with config.change(contexts=f"{outside};{contexts}" if outside else contexts):
        yield
