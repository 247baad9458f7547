# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda``: CudaNdarray and ops on it."""

from ..._config import devices
from ..._device_array import CudaNdarray, dimshuffle, dot, from_gpu_pointer
from . import basic_ops, var
from .basic_ops import as_cuda_ndarray_variable, gpu_contiguous, gpu_from_host, host_from_gpu
from .type import CudaNdarrayType
from .var import CudaNdarraySharedVariable, float32_shared_constructor as shared_constructor

__all__ = [
    "CudaNdarray", "CudaNdarraySharedVariable", "CudaNdarrayType", "as_cuda_ndarray_variable",
    "basic_ops", "cuda_available", "cuda_enabled", "cuda_ndarray", "dimshuffle", "dot",
    "from_gpu_pointer", "gpu_contiguous", "gpu_from_host", "host_from_gpu", "shared_constructor",
    "use", "var",
]  # fmt: skip

#: True: without a GPU, arrays and kernels are on the CPU in its place.
cuda_available = True
cuda_enabled = devices.is_gpu
devices.choose_dialect("gpu")


def use(
    device: str,
    force: bool = False,
    default_to_move_computation_to_gpu: bool = True,
    **options: object,
) -> None:
    """Refused: the device is chosen at start. Raises NotImplementedError for another one."""
    if devices.target(device) != devices.default:
        raise NotImplementedError(
            f"theano.sandbox.cuda.use({device!r}): functions run on {devices.default}; set "
            f"THEANO_FLAGS=device={device} before the start"
        )


from . import cuda_ndarray  # noqa: E402
