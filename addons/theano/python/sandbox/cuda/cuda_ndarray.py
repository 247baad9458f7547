# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.cuda_ndarray``: the array, which old scripts import from here."""

from ..._device_array import CudaNdarray, dimshuffle, dot, from_gpu_pointer

__all__ = ["CudaNdarray", "cuda_ndarray", "dimshuffle", "dot", "from_gpu_pointer"]

import sys

cuda_ndarray = sys.modules[__name__]  # scripts write cuda_ndarray.cuda_ndarray.CudaNdarray
