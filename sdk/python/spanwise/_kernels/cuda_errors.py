# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of errors that functions of the CUDA runtime API return (CUDA Runtime API, cudaError)."""

_INSTALL = "update the driver, or build the library with the toolkit of the driver's version"
_BUILD = "build the library for this GPU (nvcc -arch=native)"

#: Code -> name and remedy.
_ERRORS = {
    1: ("cudaErrorInvalidValue", ""),
    2: ("cudaErrorMemoryAllocation", "free memory of the device"),
    3: ("cudaErrorInitializationError", ""),
    9: ("cudaErrorInvalidConfiguration", "give another number of threads or less shared memory"),
    35: (
        "cudaErrorInsufficientDriver",
        f"the library's CUDA runtime needs a newer driver: {_INSTALL}",
    ),
    46: ("cudaErrorDevicesUnavailable", "another process has exclusive use of the GPU"),
    98: ("cudaErrorInvalidDeviceFunction", _BUILD),
    100: ("cudaErrorNoDevice", "the library needs a GPU"),
    101: ("cudaErrorInvalidDevice", ""),
    200: ("cudaErrorInvalidKernelImage", _BUILD),
    201: ("cudaErrorDeviceUninitialized", ""),
    209: ("cudaErrorNoKernelImageForDevice", _BUILD),
    218: ("cudaErrorInvalidPtx", _BUILD),
    222: ("cudaErrorUnsupportedPtxVersion", _INSTALL),
    400: ("cudaErrorInvalidResourceHandle", "give a stream of the arrays' device"),
    700: ("cudaErrorIllegalAddress", "the process cannot use the GPU any more; check its indices"),
    701: ("cudaErrorLaunchOutOfResources", "launch fewer threads in a block"),
    702: ("cudaErrorLaunchTimeout", "the process cannot use the GPU any more"),
    716: ("cudaErrorMisalignedAddress", "the process cannot use the GPU any more"),
    719: ("cudaErrorLaunchFailure", "the process cannot use the GPU any more"),
    801: ("cudaErrorNotSupported", ""),
    803: ("cudaErrorSystemDriverMismatch", "restart after an update of the driver"),
    999: ("cudaErrorUnknown", ""),
}


def error_text(code: int) -> str:
    """Such as "35, cudaErrorInsufficientDriver. Remedy: ..."; the number alone without a name here."""
    name, remedy = _ERRORS.get(code, ("", ""))
    return str(code) + (f", {name}" if name else "") + (f". Remedy: {remedy}" if remedy else "")
