# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays and the objects over them, by the driver's own calls (CUDA driver API 12 and newer)."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from typing import Any

from . import _contexts, _core

# CUarray_format.
_FORMATS = {
    "uint8": 0x01,
    "uint16": 0x02,
    "uint32": 0x03,
    "int8": 0x08,
    "int16": 0x09,
    "int32": 0x0A,
    "float32": 0x20,
}
_SURFACE = 0x02  # CUDA_ARRAY3D_SURFACE_LDST
_AS_INTEGER, _NORMALIZED = 0x01, 0x02  # CU_TRSF_READ_AS_INTEGER, CU_TRSF_NORMALIZED_COORDINATES
_DEVICE_MEMORY, _ARRAY_MEMORY = 0x02, 0x03  # CUmemorytype
_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED


class _ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR"""

    _fields_ = (
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    )


class _End(ctypes.Structure):
    """One half of CUDA_MEMCPY3D: where bytes come from or go to."""

    _fields_ = (
        ("x_bytes", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t),
        ("memory", ctypes.c_int),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D"""

    _fields_ = (
        ("source", _End),
        ("target", _End),
        ("width_bytes", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    )


class _LinearMemory(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("bytes", ctypes.c_size_t),
    )


class _Resource(ctypes.Union):
    _fields_ = (
        ("array", ctypes.c_void_p),
        ("linear", _LinearMemory),
        ("reserved", ctypes.c_int * 32),
    )


class _ResourceDescriptor(ctypes.Structure):
    """CUDA_RESOURCE_DESC"""

    _fields_ = (("kind", ctypes.c_int), ("resource", _Resource), ("flags", ctypes.c_uint))


_OF_ARRAY, _OF_LINEAR_MEMORY = 0x00, 0x02  # CUresourcetype


class _TextureDescriptor(ctypes.Structure):
    """CUDA_TEXTURE_DESC"""

    _fields_ = (
        ("address", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("max_anisotropy", ctypes.c_uint),
        ("level_filter", ctypes.c_int),
        ("level_bias", ctypes.c_float),
        ("least_level", ctypes.c_float),
        ("most_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    )


@dataclass(frozen=True)
class Reading:
    """How a texture is read: the driver's address modes, and whether it filters, takes coordinates
    from 0 to 1, and gives integers as fractions."""

    address: list[int]
    linear: int
    normalized: bool
    as_fraction: bool

    def descriptor(self, dtype: str) -> _TextureDescriptor:
        out = _TextureDescriptor(filter=self.linear)
        out.address[:] = self.address
        if not self.as_fraction and dtype != "float32":
            out.flags |= _AS_INTEGER
        if self.normalized:
            out.flags |= _NORMALIZED
        return out


class _CudaArray:
    """A CUDA array with the extents of an array."""

    def __init__(self, like: _core.Array, flags: int = 0) -> None:
        self.device, self.itemsize = like.device, like.itemsize
        self.extent = (*reversed(like.shape), 0, 0)[:3]  # 0: no such dimension
        self.handle = ctypes.c_void_p()
        width, height, depth = self.extent
        wanted = _ArrayDescriptor(width, height, depth, _FORMATS[like.dtype.name], 1, flags)
        _call("cuArray3DCreate_v2", ctypes.byref(self.handle), ctypes.byref(wanted))

    def end(self) -> _End:
        return _End(memory=_ARRAY_MEMORY, array=self.handle)

    def end_like_it(self, array: _core.Array) -> _End:
        """C-contiguous memory of the same extents."""
        width, height, _ = self.extent
        return _End(
            memory=_DEVICE_MEMORY,
            device=array.ptr,
            pitch=width * self.itemsize,
            height=max(height, 1),
        )

    def copy(self, source: _End, target: _End) -> None:
        """Returns when the bytes are there."""
        width, height, depth = self.extent
        job = _Copy(source, target, width * self.itemsize, max(height, 1), max(depth, 1))
        stream = _core.current_stream(self.device)
        _call("cuMemcpy3DAsync_v2", ctypes.byref(job), ctypes.c_void_p(stream.handle))
        stream.synchronize()


def _call(name: str, *arguments: Any) -> None:
    _contexts.check(getattr(_contexts.driver(), name)(*arguments), name)


def _destroy(device: _core.device, name: str, handle: Any) -> None:
    """After all work of the device, which may use it, also while another thread captures a stream."""
    with contextlib.suppress(_core.DeviceError), _contexts.current_context(device):
        mode = ctypes.c_int(_RELAXED)
        _call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            _call("cuCtxSynchronize")
            _call(name, handle)
        finally:
            _call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))


def _filled(source: _core.Array, flags: int, kept: contextlib.ExitStack) -> _CudaArray:
    made = _CudaArray(source, flags)
    kept.callback(_destroy, source.device, "cuArrayDestroy", made.handle)
    made.copy(made.end_like_it(source), made.end())
    return made


def _object(
    name: str, resource: _ResourceDescriptor, device: _core.device, kept: Any, *more: Any
) -> int:
    handle = ctypes.c_uint64()
    _call(f"cu{name}ObjectCreate", ctypes.byref(handle), ctypes.byref(resource), *more)
    kept.callback(_destroy, device, f"cu{name}ObjectDestroy", handle)
    return handle.value


def _over(array: _CudaArray) -> _ResourceDescriptor:
    return _ResourceDescriptor(_OF_ARRAY, _Resource(array=array.handle))


def texture(source: _core.Array, reading: Reading, kept: contextlib.ExitStack) -> int:
    """A texture object over a copy of a C-contiguous array; `kept` destroys both when it is closed."""
    with _contexts.current_context(source.device):
        resource = _over(_filled(source, 0, kept))
        how = reading.descriptor(source.dtype.name)
        return _object("Tex", resource, source.device, kept, ctypes.byref(how), None)


def texture_of_memory(source: _core.Array, reading: Reading, kept: contextlib.ExitStack) -> int:
    """A texture object over the memory of a C-contiguous array of 1 dimension, which `kept` holds."""
    memory = _LinearMemory(source.ptr, _FORMATS[source.dtype.name], 1, source.nbytes)
    resource = _ResourceDescriptor(_OF_LINEAR_MEMORY, _Resource(linear=memory))
    how = reading.descriptor(source.dtype.name)
    kept.callback(lambda held: None, source)
    with _contexts.current_context(source.device):
        return _object("Tex", resource, source.device, kept, ctypes.byref(how), None)


def surface(source: _core.Array, kept: contextlib.ExitStack) -> tuple[int, _CudaArray]:
    """A surface object over a copy of a C-contiguous array, and the copy."""
    with _contexts.current_context(source.device):
        array = _filled(source, _SURFACE, kept)
        return _object("Surf", _over(array), source.device, kept), array


def read(array: _CudaArray, out: _core.Array) -> None:
    """Fills a C-contiguous array of the same extents."""
    with _contexts.current_context(array.device):
        array.copy(array.end(), array.end_like_it(out))
