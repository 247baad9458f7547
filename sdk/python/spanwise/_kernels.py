# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of `kernels` under the names by which pickles of earlier versions refer to them."""

import sys

from .kernels import _host_library, _pickle

_MODULES = {"host_library": _host_library, "pickle": _pickle}
sys.modules.update({f"{__name__}.{name}": module for name, module in _MODULES.items()})
