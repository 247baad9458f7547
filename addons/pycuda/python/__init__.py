# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's modules over Spanwise: scripts for PyCUDA run on a GPU, or on the CPU without one.

``import spanwise.pycuda.driver as cuda`` imports a module by its name here. After ``import
spanwise.pycuda.install``, ``import pycuda.driver`` works as well if PyCUDA itself is absent.
Everything uses the device's primary context. docs/pycuda-names.md lists the names.
"""

from spanwise.compat import alias_modules as _alias_modules

from ._unsupported import module_getattr

__all__ = ["VERSION", "VERSION_STATUS", "VERSION_TEXT"]

#: The version of PyCUDA whose names these modules follow.
VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1"

# autoinit uses the primary context too.
_alias_modules(__name__, {"autoprimaryctx": {"autoinit": "context device"}})
__getattr__ = module_getattr("pycuda", __name__)
