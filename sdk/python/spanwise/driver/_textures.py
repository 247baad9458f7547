# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, for kernels that take cudaTextureObject_t and cudaSurfaceObject_t: of a
GPU by the CUDA driver API (12 and newer), of the CPU by the struct of its texture functions."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
from dataclasses import dataclass
from typing import Any

from .. import _core
from . import _driver_api
from ._context import attribute_of, device_attribute
from ._driver_api import c_fields

# ---- Arrays as texels ----

# Ordered by the kind numbers of the CPU's texture functions.
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float16")
REALS = ("float32", "float16")
FRACTIONS = ("uint8", "int8", "uint16", "int16")
_CHANNELS = (1, 2, 4)


@dataclass(frozen=True)
class Texels:
    """An array with the meaning of its axes: [layers,] [z,] [y,] x [, channels]."""

    array: _core.Array
    channels: int
    layers: int  # 0: not layered
    extent: tuple[int, ...]  # (x[, y[, z]]) in texels
    pitch: int  # bytes from row to row; 0: rows are not contiguous

    @property
    def kind(self) -> int:
        """The number of the dtype in the CPU's texture functions."""
        return DTYPES.index(self.array.dtype.name)

    @property
    def bytes(self) -> int:
        """Bytes of one texel."""
        return self.array.itemsize * self.channels

    @property
    def width_bytes(self) -> int:
        return self.extent[0] * self.bytes

    def packed(self) -> Texels:
        """The texels in a C-contiguous copy of the array; waits for the copy."""
        copy = self.array.copy("C")
        copy.sync()
        return Texels(copy, self.channels, self.layers, self.extent, self.width_bytes)


def texels(caller: str, array: Any, device: Any, channels: int | None, layered: bool) -> Texels:
    """`array` (of any library) as texels, on `device` if given. Raises ArgumentError for dtypes,
    channels and ranks that textures and surfaces do not support."""
    source = _core._asarray(array, device=device)
    if source.dtype.name not in DTYPES:
        raise _core.ArgumentError(
            f"{caller}: expected an array of {', '.join(DTYPES)}, got {source.dtype}; convert it with astype()"
        )
    if channels is not None and channels not in _CHANNELS:
        raise _core.ArgumentError(
            f"{caller}: expected channels to be one of {_CHANNELS}, got {channels!r}; three channels are "
            "stored as four"
        )
    shape, axes = list(source.shape), "1 or 2 dimensions" if layered else "1 to 3 dimensions"
    if channels is not None:
        last = shape.pop() if shape else 0
        if last != channels:
            raise _core.ArgumentError(
                f"{caller}: expected the last axis to be the {channels} channels, got shape {source.shape}"
            )
        axes += ", and one of channels"
    layers = 0
    if layered:
        layers = shape.pop(0) if shape else 0
        axes += " behind one of layers"
    if not 1 <= len(shape) <= (2 if layered else 3) or source.size == 0:
        raise _core.ArgumentError(
            f"{caller}: expected an array of {axes} with elements, got shape {source.shape}"
        )
    extent = tuple(reversed(shape))
    return Texels(source, channels or 1, layers, extent, _pitch(source, channels, extent))


def _pitch(source: _core.Array, channels: int | None, extent: tuple[int, ...]) -> int:
    """Bytes from row to row; 0 if the texels of a row are not contiguous."""
    strides = list(source.strides)
    width = extent[0] * source.itemsize * (channels or 1)
    if channels is not None and strides.pop() != source.itemsize and channels > 1:
        return 0
    if extent[0] > 1 and strides[-1] != source.itemsize * (channels or 1):
        return 0
    if math.prod(source.shape) * source.itemsize == width:  # one row
        return width
    return strides[-2] if strides[-2] >= width else 0


# ---- CUDA arrays, texture objects and surface objects ----

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


def _texture_object(source: Texels, modes: TextureModes, resources: contextlib.ExitStack) -> int:
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


def _texture_object_of_memory(
    source: Texels, modes: TextureModes, resources: contextlib.ExitStack
) -> int:
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


def _surface_object(source: Texels, resources: contextlib.ExitStack) -> tuple[int, _CudaArray]:
    """A surface object over a CUDA array with a copy of packed texels, and that CUDA array; closing
    `resources` destroys both."""
    device = source.array.device
    with _driver_api.current_context(device):
        array = _cuda_array_copy(source, _SURFACE, resources)
        return _create_object("Surf", _array_resource(array), device, resources), array


def _copy_contents(array: _CudaArray, out: _core.Array) -> None:
    """Copies the CUDA array to `out`, C-contiguous and of the same size in bytes; waits for it."""
    with _driver_api.current_context(array.device):
        array.copy(array.operand(), array.operand_of(out))


# ---- Texture and Surface ----

_ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
_FILTER = {"point": 0, "linear": 1}
_READ = {"element": 0, "normalized": 1}
_MEMORY = {"array": 0, "linear": 1}


class _TextureStruct(ctypes.Structure):
    """The struct that the CPU's texture functions read: sw_texture of the CUDA shim."""

    _fields_ = c_fields(
        ("texels", ctypes.c_void_p),
        ("pitch", ctypes.c_longlong),
        ("kind channels rank layers", ctypes.c_int),
        ("extent address", ctypes.c_int * 3),
        ("linear normalized as_fraction", ctypes.c_int),
    )


def _choice(parameter: str, name: Any, choices: dict[str, int]) -> int:
    """choices[name]. Raises ArgumentError for an unknown name."""
    if name not in choices:
        names = ", ".join(map(repr, choices))
        raise _core.ArgumentError(
            f"Texture: expected {parameter} to be one of {names}, got {name!r}"
        )
    return choices[name]


def _texture_struct(source: Texels, **fields: Any) -> _TextureStruct:
    return _TextureStruct(
        texels=source.array.ptr,
        pitch=source.pitch,
        extent=(*source.extent, 1, 1)[:3],
        layers=source.layers,
        kind=source.kind,
        channels=source.channels,
        rank=len(source.extent),
        **fields,
    )


class _Handle(int):
    """A texture or surface handle as an int. The object owns the memory behind the handle."""

    device: _core.device
    shape: tuple[int, ...]
    dtype: _core.dtype
    _resources: contextlib.ExitStack
    _process: int

    @property
    def handle(self) -> int:
        """The cudaTextureObject_t or cudaSurfaceObject_t as an integer."""
        return int(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of shape {self.shape}, {self.dtype}, on {self.device}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__}: expected no pickling or copying, as it is a handle of this process; make another"
        )

    def __del__(self) -> None:
        # The end of the process frees everything; a forked child cannot call the driver.
        if not sys.is_finalizing() and self._process == os.getpid():
            self._resources.close()

    @classmethod
    def _create(cls, handle: int, source: _core.Array, resources: contextlib.ExitStack) -> Any:
        created = int.__new__(cls, handle)
        created.device, created.shape, created.dtype = source.device, source.shape, source.dtype
        created._resources, created._process = resources.pop_all(), os.getpid()
        return created


class Texture(_Handle):
    """A texture object over an array of 1 to 3 dimensions, of which the last is x.

    Kernels take it as ``cudaTextureObject_t`` and read it by ``tex1D<T>``, ``tex2D<T>``,
    ``tex3D<T>``, with ``layered=True`` by ``tex1DLayered<T>`` and ``tex2DLayered<T>``, or, for
    ``memory="linear"`` of one dimension, by ``tex1Dfetch<T>``. dtypes: float32, float16 (which
    kernels read as float) and 8- to 32-bit integers.

    channels: None, or 1, 2 or 4 for an array with one more axis after x, the channels; T is then
    ``float2``, ``uchar4``, ..., or a scalar type, which reads the first channel. layered: the first
    axis is the layer, which kernels select by index; each has 1 or 2 dimensions. address: the value
    at coordinates outside: "clamp" (the edge), "border" (0), and with normalized=True also "wrap"
    and "mirror"; one mode, or a tuple with one per direction (x, y, z). filter: "point", or
    "linear" interpolation with weights of 8 fractional bits. The CPU rounds the weights to nearest,
    so results of CPU and GPU differ by at most 1/256 of the difference between neighbours, in each
    direction. read: "element", or "normalized": 8- and 16-bit integers as float in [0, 1] or [-1,
    1]. memory: "array" copies the array once, when the texture is made, to a CUDA array; "linear"
    shares the memory of a C-contiguous array of 1 dimension, or of 2 dimensions with contiguous
    rows, which the caller must not write while kernels read it. On a GPU the address, and in 2
    dimensions the stride of rows, must have the device's alignment, which the error message names.
    device: the device of the texture, by default that of `array` (the CPU for NumPy's).

    Waits for the copy. Raises ArgumentError for unsupported arguments, DeviceError from the driver.
    int(texture) is the handle. The texture is destroyed with this object, after waiting for all
    work of the device. Source: CUDA C++ Programming Guide 13.0, "Texture and Surface Memory".
    """

    def __new__(
        cls,
        array: Any,
        *,
        channels: int | None = None,
        layered: bool = False,
        address: str | tuple[str, ...] = "clamp",
        filter: str = "point",
        normalized: bool = False,
        read: str = "element",
        memory: str = "array",
        device: Any = None,
    ) -> Texture:
        source = texels("Texture", array, device, channels, layered)
        rank = len(source.extent)
        addresses = (address,) * rank if isinstance(address, str) else tuple(address)
        if len(addresses) != rank:
            raise _core.ArgumentError(
                f"Texture: expected address as one mode or {rank}, one for each axis, got {address!r}"
            )
        address_modes = [_choice("address", mode, _ADDRESS) for mode in addresses]
        linear = _choice("filter", filter, _FILTER)
        as_fraction = _choice("read", read, _READ)
        shares_memory = _choice("memory", memory, _MEMORY)
        _check_modes(source, addresses, linear, normalized, as_fraction)
        if shares_memory:
            _check_shared(source, linear, normalized)
        address_modes += [_ADDRESS["clamp"]] * (3 - len(address_modes))
        with contextlib.ExitStack() as resources:
            stored = source if shares_memory else source.packed()
            if source.array.device.kind == "cpu":
                struct = _texture_struct(
                    stored,
                    address=tuple(address_modes),
                    linear=linear,
                    normalized=bool(normalized),
                    as_fraction=as_fraction,
                )
                resources.callback(lambda owners: None, (stored, struct))  # keeps both alive
                return cls._create(ctypes.addressof(struct), source.array, resources)
            source.array.sync()
            create = _texture_object_of_memory if shares_memory else _texture_object
            modes = TextureModes(address_modes, linear, normalized, bool(as_fraction))
            return cls._create(create(stored, modes, resources), source.array, resources)


def _check_modes(
    source: Texels, addresses: tuple[str, ...], linear: int, normalized: bool, as_fraction: int
) -> None:
    name = source.array.dtype.name
    if as_fraction and name not in FRACTIONS:
        raise _core.ArgumentError(
            f"Texture: read='normalized' is for {', '.join(FRACTIONS)}, got {name}; use read='element'"
        )
    if linear and not (as_fraction or name in REALS):
        raise _core.ArgumentError(
            f"Texture: filter='linear' needs real values, got {name}; use read='normalized' for 8- and 16-bit "
            "integers, or astype('float32')"
        )
    if not normalized and {"wrap", "mirror"} & set(addresses):
        raise _core.ArgumentError(
            f"Texture: address {addresses!r} repeats the array, which only normalized=True does; use 'clamp' or "
            "'border', or coordinates from 0 to 1"
        )


def _check_shared(source: Texels, linear: int, normalized: bool) -> None:
    array, rank = source.array, len(source.extent)
    if rank == 1 and (not array.flags.c_contiguous or linear or normalized):
        raise _core.ArgumentError(
            "Texture: memory='linear' of 1 dimension is for tex1Dfetch: expected a C-contiguous array, "
            f"filter='point' and normalized=False, got shape {array.shape}, strides {array.strides}"
        )
    if rank > 2 or source.layers or not source.pitch:
        raise _core.ArgumentError(
            "Texture: memory='linear' is for tex1Dfetch and tex2D: expected 1 dimension, or 2 with "
            f"contiguous rows, got shape {array.shape}, strides {array.strides}; use memory='array'"
        )


class Surface(_Handle):
    """A surface object: memory of 1 to 3 dimensions that kernels read and write by coordinates.

    Initialised with a copy of `array`, whose last dimension is x, or with channels= the one before
    the channels; ``get()`` copies the contents back. Kernels take it as ``cudaSurfaceObject_t`` and
    use ``surf1Dread<T>``, ``surf2Dwrite<T>``, ..., whose x is in bytes, and with layered=True
    ``surf2DLayeredread<T>``, ... channels, layered and dtypes are those of Texture, but float16 is
    read and written as 16-bit integers: ``unsigned short``, ``ushort4``. Raises as Texture.
    """

    _memory: Any

    def __new__(
        cls,
        array: Any,
        *,
        channels: int | None = None,
        layered: bool = False,
        device: Any = None,
    ) -> Surface:
        source = texels("Surface", array, device, channels, layered).packed()
        with contextlib.ExitStack() as resources:
            if source.array.device.kind == "cpu":
                struct = _texture_struct(source)
                resources.callback(lambda struct: None, struct)  # keeps the struct alive
                handle, memory = ctypes.addressof(struct), source.array
            else:
                handle, memory = _surface_object(source, resources)
            surface: Surface = cls._create(handle, source.array, resources)
            surface._memory = memory
            return surface

    def get(self) -> _core.Array:
        """A new array with the contents of the surface, after waiting for all work of the
        device."""
        if self.device.kind == "cpu":
            return self._memory.copy()
        out = _core.empty(self.shape, dtype=self.dtype, device=self.device)
        self.device.synchronize()
        _copy_contents(self._memory, out)
        return out
