# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.scan``."""

import numpy as np

import spanwise as sw

from ._array import GPUArray, device_array
from ._devices import on_stream, pycuda_compile_error
from ._modules import _PreambleVariables, with_spanwise_headers
from ._unsupported import module_getattr

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


class _ScanKernel(_PreambleVariables):
    _kernel_class = None

    def __init__(
        self, dtype, scan_expr, neutral=None, name_prefix="scan", options=None, preamble="",
        devices=None,
    ):  # fmt: skip
        super().__init__()
        self.dtype = np.dtype(dtype)
        self._kernel = self._kernel_class(
            self.dtype, scan_expr, neutral, name_prefix, options, with_spanwise_headers(preamble)
        )

    def _strided_kernel(self):
        return self._kernel

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None):
        """Scans an array with one axis in place, or into `output_ary`, which "new" allocates;
        returns the output."""
        if isinstance(output_ary, str):
            output_ary = GPUArray(input_ary.shape, self.dtype, allocator or input_ary.allocator)
        target = input_ary if output_ary is None else output_ary
        with on_stream(stream):
            if target.size:
                try:
                    self._kernel(device_array(input_ary), device_array(target))
                except sw.CompileError as error:
                    raise pycuda_compile_error(error, "a scan kernel") from error
        return target


class InclusiveScanKernel(_ScanKernel):
    """Each result combines the elements up to its own."""

    _kernel_class = sw.InclusiveScanKernel


class ExclusiveScanKernel(_ScanKernel):
    """Each result combines the elements before its own; the first is `neutral`. Raises ValueError
    without it."""

    _kernel_class = sw.ExclusiveScanKernel

    def __init__(self, dtype, scan_expr, neutral=None, *args, **kwargs):
        if neutral is None:
            raise ValueError("ExclusiveScanKernel: expected neutral=, the first result, got none")
        super().__init__(dtype, scan_expr, neutral, *args, **kwargs)


__getattr__ = module_getattr("pycuda.scan", __name__)
