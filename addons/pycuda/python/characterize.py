# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.characterize``."""

import sys

import numpy as np

from ._array import GPUArray
from .compiler import SourceModule
from .tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]


def platform_bits():
    """64 or 32, the bits of a pointer."""
    return 64 if sys.maxsize > 2**32 else 32


def has_stack():
    """True: every supported device has a stack."""
    return True


def has_double_support():
    """True: every supported device computes in double precision."""
    return True


@context_dependent_memoize
def sizeof(type_name, preamble=""):
    """The bytes of a C type on the device, after the declarations `preamble`."""
    source = f"{preamble}\n__global__ void size_of(size_t *out) {{ *out = sizeof({type_name}); }}"
    out = GPUArray((), np.uintp)
    SourceModule(source).get_function("size_of")(out, block=(1, 1, 1))
    return int(out.get())
