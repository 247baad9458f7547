# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.compile.mode``: modes by name."""

from .._function import Mode, as_mode as get_mode

__all__ = ["Mode", "get_default_mode", "get_mode"]


def get_default_mode() -> Mode:
    """The Mode that the flags ``mode`` and ``optimizer`` choose."""
    return get_mode(None)
