# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing it pushes the primary context of the default device on this thread, until exit."""

import atexit

from .tools import clear_context_caches, make_default_context

context = make_default_context()
device = context.get_device()


def _pop():
    context.detach()  # no effect if the program has popped it
    clear_context_caches()


atexit.register(_pop)
