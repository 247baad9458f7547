# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc``: conversions to and from PyCUDA, CUDAMat and Gnumpy."""

import importlib.util as _util
import sys as _sys


def _is_importable(name: str) -> bool:
    """Whether the package `name` is imported or installed."""
    return name in _sys.modules or _util.find_spec(name) is not None
