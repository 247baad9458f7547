# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, texture objects and surface objects, by the CUDA driver API (12 and newer)."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from typing import Any

from .. import _core
from . import driver_api as _driver_api
from .attributes import attribute_of, device_attribute
from .driver_api import c_fields
from .texels import REALS, Texels

# CUarray_format.
_FORMATS = {
    "uint8": 0x01,
    "uint16": 0x02,
    "uint32": 0x03,
    "int8": 0x08,
    "int16": 0x09,
    "int32": 0x0A,
    "float16": 0x10,
    "float32": 0x20,
}
# CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_TEXTURE_GATHER
_LAYERED, _SURFACE, _GATHER = 0x01, 0x02, 0x08
_GATHER_EXTENT = 32768  # of either axis, on compute capability 5.0 and later
_AS_INTEGER, _NORMALIZED = 0x01, 0x02  # CU_TRSF_READ_AS_INTEGER, CU_TRSF_NORMALIZED_COORDINATES
_DEVICE_MEMORY, _ARRAY_MEMORY = 0x02, 0x03  # CUmemorytype


class _ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR"""

    _fields_ = c_fields(
        ("width height depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels flags", ctypes.c_uint),
    )


class _CopyOperand(ctypes.Structure):
    """The source or destination half of CUDA_MEMCPY3D."""

    _fields_ = c_fields(
        ("x_bytes y z level", ctypes.c_size_t),
        ("memory", ctypes.c_int),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array reserved", ctypes.c_void_p),
        ("pitch height", ctypes.c_size_t),
    )


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D"""

    _fields_ = c_fields(
        ("source target", _CopyOperand),
        ("width_bytes height depth", ctypes.c_size_t),
    )


class _LinearMemory(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("bytes", ctypes.c_size_t),
    )


class _PitchedMemory(ctypes.Structure):
    _fields_ = c_fields(
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("width height pitch", ctypes.c_size_t),
    )


class _Resource(ctypes.Union):
    _fields_ = (
        ("array", ctypes.c_void_p),
        ("linear", _LinearMemory),
        ("pitched", _PitchedMemory),
        ("reserved", ctypes.c_int * 32),
    )


class _ResourceDescriptor(ctypes.Structure):
    """CUDA_RESOURCE_DESC"""

    _fields_ = (("kind", ctypes.c_int), ("resource", _Resource), ("flags", ctypes.c_uint))


_OF_ARRAY, _OF_LINEAR_MEMORY, _OF_PITCHED_MEMORY = 0x00, 0x02, 0x03  # CUresourcetype


class _TextureDescriptor(ctypes.Structure):
    """CUDA_TEXTURE_DESC"""

    _fields_ = c_fields(
        ("address", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("flags max_anisotropy", ctypes.c_uint),
        ("level_filter", ctypes.c_int),
        ("level_bias min_level max_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    )


@dataclass(frozen=True)
class TextureModes:
    """How a texture is read: the CUaddress_mode of each direction, the CUfilter_mode, whether
    coordinates are normalised to [0, 1], and whether integers are read as fractions."""

    address: list[int]
    filter: int
    normalized: bool
    as_fraction: bool

    def descriptor(self, dtype: str) -> _TextureDescriptor:
        descriptor = _TextureDescriptor(address=tuple(self.address), filter=self.filter)
        if not self.as_fraction and dtype not in REALS:
            descriptor.flags |= _AS_INTEGER
        if self.normalized:
            descriptor.flags |= _NORMALIZED
        return descriptor


class _CudaArray:
    """A CUDA array with the extents, channels and layers of `like`."""

    def __init__(self, like: Texels, flags: int = 0) -> None:
        self.device, self.width_bytes = like.array.device, like.width_bytes
        width, height, depth = (*like.extent, 0, 0)[:3]  # 0: no such dimension
        if like.layers:
            depth, flags = like.layers, flags | _LAYERED
        self.height, self.depth = max(height, 1), max(depth, 1)
        self.handle = ctypes.c_void_p()
        texel_format = _FORMATS[like.array.dtype.name]
        descriptor = _ArrayDescriptor(width, height, depth, texel_format, like.channels, flags)
        _driver_api.call("cuArray3DCreate_v2", ctypes.byref(self.handle), ctypes.byref(descriptor))

    def operand(self) -> _CopyOperand:
        return _CopyOperand(memory=_ARRAY_MEMORY, array=self.handle)

    def operand_of(self, array: _core.Array) -> _CopyOperand:
        """Describes `array`, C-contiguous device memory of the same extents."""
        return _CopyOperand(
            memory=_DEVICE_MEMORY, device=array.ptr, pitch=self.width_bytes, height=self.height
        )

    def copy(self, source: _CopyOperand, target: _CopyOperand) -> None:
        """Copies on the device's current stream and waits for it."""
        copy = _Copy(source, target, self.width_bytes, self.height, self.depth)
        stream = _core.current_stream(self.device)
        _driver_api.call("cuMemcpy3DAsync_v2", ctypes.byref(copy), ctypes.c_void_p(stream.handle))
        stream.synchronize()


def _cuda_array_copy(source: Texels, flags: int, resources: contextlib.ExitStack) -> _CudaArray:
    """A new CUDA array with a copy of packed texels; closing `resources` destroys it."""
    array = _CudaArray(source, flags)
    resources.callback(_driver_api.destroy, array.device, "cuArrayDestroy", array.handle)
    array.copy(array.operand_of(source.array), array.operand())
    return array


def _create_object(
    kind: str, resource: _ResourceDescriptor, device: _core.device, resources: Any, *arguments: Any
) -> int:
    """The handle of a new object of `kind` "Tex" or "Surf"; closing `resources` destroys it."""
    handle = ctypes.c_uint64()
    _driver_api.call(
        f"cu{kind}ObjectCreate", ctypes.byref(handle), ctypes.byref(resource), *arguments
    )
    resources.callback(_driver_api.destroy, device, f"cu{kind}ObjectDestroy", handle)
    return handle.value


def _array_resource(array: _CudaArray) -> _ResourceDescriptor:
    return _ResourceDescriptor(_OF_ARRAY, _Resource(array=array.handle))


def texture(source: Texels, modes: TextureModes, resources: contextlib.ExitStack) -> int:
    """A texture object over a CUDA array with a copy of packed texels; closing `resources` destroys
    both."""
    device = source.array.device
    with _driver_api.current_context(device):
        can_gather = len(source.extent) == 2 and not source.layers
        can_gather = can_gather and max(source.extent) <= _GATHER_EXTENT
        flags = _GATHER if can_gather else 0
        resource = _array_resource(_cuda_array_copy(source, flags, resources))
        descriptor = modes.descriptor(source.array.dtype.name)
        return _create_object("Tex", resource, device, resources, ctypes.byref(descriptor), None)


def _check_aligned(
    quantity: str, value: int, attribute: device_attribute, device: _core.device
) -> None:
    """Raises ArgumentError unless `value` is a multiple of the alignment `attribute` of `device`."""
    alignment = attribute_of(device, attribute)
    if value % alignment != 0:
        raise _core.ArgumentError(
            f"Texture: memory='linear' on {device}: expected {quantity} to be a multiple of {alignment} "
            f"bytes, got {value}; use memory='array', or an array with that alignment"
        )


def texture_of_memory(source: Texels, modes: TextureModes, resources: contextlib.ExitStack) -> int:
    """A texture object over the memory of an array of 1 or 2 dimensions; `resources` owns a reference to
    the array and destroys the object. Raises ArgumentError for memory that is not aligned."""
    array = source.array
    with _driver_api.current_context(array.device):
        alignment = device_attribute.TEXTURE_ALIGNMENT
        _check_aligned("the address", array.ptr, alignment, array.device)
        texel_format = _FORMATS[array.dtype.name]
        if len(source.extent) == 1:
            memory = _LinearMemory(array.ptr, texel_format, source.channels, array.nbytes)
            resource = _ResourceDescriptor(_OF_LINEAR_MEMORY, _Resource(linear=memory))
        else:
            alignment = device_attribute.TEXTURE_PITCH_ALIGNMENT
            _check_aligned("the stride of rows", source.pitch, alignment, array.device)
            texel = (texel_format, source.channels)
            rows = _PitchedMemory(array.ptr, *texel, *source.extent, source.pitch)
            resource = _ResourceDescriptor(_OF_PITCHED_MEMORY, _Resource(pitched=rows))
        resources.callback(lambda array: None, array)  # keeps the array alive
        descriptor = ctypes.byref(modes.descriptor(array.dtype.name))
        return _create_object("Tex", resource, array.device, resources, descriptor, None)


def surface(source: Texels, resources: contextlib.ExitStack) -> tuple[int, _CudaArray]:
    """A surface object over a CUDA array with a copy of packed texels, and that CUDA array; closing
    `resources` destroys both."""
    device = source.array.device
    with _driver_api.current_context(device):
        array = _cuda_array_copy(source, _SURFACE, resources)
        return _create_object("Surf", _array_resource(array), device, resources), array


def read(array: _CudaArray, out: _core.Array) -> None:
    """Copies the CUDA array to `out`, C-contiguous and of the same size in bytes; waits for it."""
    with _driver_api.current_context(array.device):
        array.copy(array.operand(), array.operand_of(out))
