# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.pycuda_init``: PyCUDA's calls use the context of Spanwise's arrays."""

from spanwise.compat.pycuda_init import init as set_gpu_from_theano

__all__ = ["pycuda_available", "set_gpu_from_theano"]

#: spanwise.pycuda serves where PyCUDA itself is not installed.
pycuda_available = True
