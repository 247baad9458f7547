# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, for kernels that take cudaTextureObject_t and cudaSurfaceObject_t."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any

from .. import _core
from . import cuda_arrays as _cuda_arrays
from .driver_api import c_fields
from .texels import FRACTIONS, REALS, Texels, texels

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
            create = _cuda_arrays.texture_of_memory if shares_memory else _cuda_arrays.texture
            modes = _cuda_arrays.TextureModes(address_modes, linear, normalized, bool(as_fraction))
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
                handle, memory = _cuda_arrays.surface(source, resources)
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
        _cuda_arrays.read(self._memory, out)
        return out
