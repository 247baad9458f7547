# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_init``: makes PyCUDA use the primary context, as Spanwise does.

``pycuda_available`` is whether there is a GPU and PyCUDA is installed; importing this module then
calls ``init()``.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

from .. import _core

__all__ = ["init", "pycuda_available"]


def init() -> None:
    """Makes PyCUDA use the primary context of the GPU that it selects ($CUDA_DEVICE, else the first
    usable one) on this thread, until the process ends. Raises DeviceError if this thread's context
    is not a primary one: PyCUDA has created its own (pycuda.autoinit), or made its primary one
    current on another thread only. Memory of one context cannot be used in the other.
    """
    if "pycuda.autoinit" not in sys.modules:
        import_module("pycuda.autoprimaryctx")
        if _core._works_in_primary_context():
            return
    raise _core.DeviceError(
        "pycuda_init: PyCUDA has made another context than the primary one on this thread; "
        "import spanwise.compat.pycuda_init (or pycuda.autoprimaryctx) instead of "
        "pycuda.autoinit"
    )


pycuda_available = not _core._why_no_cuda() and find_spec("pycuda") is not None
if pycuda_available:
    init()
