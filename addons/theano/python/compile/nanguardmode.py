# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.compile.nanguardmode``: a mode that reports numbers that are not finite."""

from __future__ import annotations

from typing import Any

import spanwise as sw

__all__ = ["NanGuardMode"]


class NanGuardMode(sw.graph.NanGuardMode):
    """As spanwise.graph.NanGuardMode; None means True. `optimizer` and `linker` are accepted for
    compatibility."""

    def __init__(
        self,
        nan_is_error: bool | None = None,
        inf_is_error: bool | None = None,
        big_is_error: bool | None = None,
        optimizer: Any = "default",
        linker: Any = None,
    ) -> None:
        flags = (nan_is_error, inf_is_error, big_is_error)
        nan, inf, big = (True if flag is None else flag for flag in flags)
        super().__init__(nan, inf, big)
