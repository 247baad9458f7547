# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_init``: PyCUDA in the context in which our arrays are.

Importing it calls ``init()`` where there is a GPU and PyCUDA; ``pycuda_available`` tells.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

from .. import _core

__all__ = ["init", "pycuda_available"]


def init() -> None:
    """Makes the primary context of the current GPU PyCUDA's, on this thread, until the process ends.

    Raises DeviceError where PyCUDA has made a context of its own already (pycuda.autoinit), since
    memory of one cannot be used in the other.
    """
    has_its_own = "pycuda.autoinit" in sys.modules
    import_module("pycuda.autoprimaryctx")
    if has_its_own or not _core._works_in_primary_context():
        raise _core.DeviceError(
            "pycuda_init: PyCUDA has made a context of its own on this thread; expected the primary "
            "one, import spanwise.compat.pycuda_init (or pycuda.autoprimaryctx) in the place of "
            "pycuda.autoinit"
        )


pycuda_available = not _core._why_no_cuda() and find_spec("pycuda") is not None
if pycuda_available:
    init()
