# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, for kernels that take cudaTextureObject_t and cudaSurfaceObject_t."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any

from . import _core, _cuda_arrays

_ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
_FILTER = {"point": 0, "linear": 1}
_READ = {"element": 0, "normalized": 1}
_MEMORY = ("array", "linear")
# By their place in the list of kinds that the CPU's texture functions know.
_DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32")
_FRACTIONS = ("uint8", "int8", "uint16", "int16")


class _Record(ctypes.Structure):
    """What the CPU's texture functions read: sw_texture of the shim."""

    _fields_ = (
        ("texels", ctypes.c_void_p),
        ("kind", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("extent", ctypes.c_int * 3),
        ("address", ctypes.c_int * 3),
        ("linear", ctypes.c_int),
        ("normalized", ctypes.c_int),
        ("as_fraction", ctypes.c_int),
    )


def _chosen(who: str, what: str, value: Any, choices: Any) -> Any:
    if value not in choices:
        names = ", ".join(repr(choice) for choice in choices)
        raise _core.ArgumentError(f"{who}: expected {what} to be one of {names}, got {value!r}")
    return value


def _checked(who: str, array: Any, device: Any) -> _core.Array:
    source = _core.asarray(array, device=device)
    if source.dtype.name not in _DTYPES:
        raise _core.ArgumentError(
            f"{who}: expected an array of {', '.join(_DTYPES)}, got {source.dtype}; convert it with astype()"
        )
    if not 1 <= source.ndim <= 3 or source.size == 0:
        raise _core.ArgumentError(
            f"{who}: expected an array of 1 to 3 dimensions with elements, got shape {source.shape}"
        )
    return source


def _record(source: _core.Array, **fields: Any) -> _Record:
    record = _Record(texels=source.ptr, kind=_DTYPES.index(source.dtype.name), rank=source.ndim)
    record.extent[:] = (*reversed(source.shape), 1, 1)[:3]
    for name, value in fields.items():
        if name == "address":
            record.address[:] = value
        else:
            setattr(record, name, value)
    return record


def _packed(source: _core.Array) -> _core.Array:
    """A C-contiguous copy of its own, finished."""
    copy = source.copy("C")
    copy.sync()
    return copy


class _Object(int):
    """The handle, as a kernel takes it; the memory behind it lives as long as this object."""

    device: _core.device
    shape: tuple[int, ...]
    dtype: _core.dtype
    _kept: contextlib.ExitStack
    _process: int

    @property
    def handle(self) -> int:
        """The object as an integer: a cudaTextureObject_t or cudaSurfaceObject_t."""
        return int(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of shape {self.shape}, {self.dtype}, on {self.device}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__}: it is a handle of this process; make another")

    def __del__(self) -> None:
        # The process's end frees everything, and a forked child has no driver.
        if not sys.is_finalizing() and self._process == os.getpid():
            self._kept.close()

    @classmethod
    def _made(cls, handle: int, source: _core.Array, kept: contextlib.ExitStack) -> Any:
        made = int.__new__(cls, handle)
        made.device, made.shape, made.dtype = source.device, source.shape, source.dtype
        made._kept, made._process = kept.pop_all(), os.getpid()
        return made


class Texture(_Object):
    """A texture object over an array of 1 to 3 dimensions, of which the last is x.

    Kernels take it as ``cudaTextureObject_t`` and read it by ``tex1D<T>``, ``tex2D<T>``, ``tex3D<T>``
    or, for ``memory="linear"``, ``tex1Dfetch<T>``. dtypes: float32 and 8- to 32-bit integers; one
    channel.

    address: what coordinates outside give, "clamp" (the edge), "border" (0), or with
    normalized=True also "wrap" and "mirror"; one word, or one a direction as (x, y, z).
    filter: "point" or "linear", between neighbours with weights of 8 fractional bits. On the CPU the
    weights are rounded to nearest, so results of both devices differ by at most 1/256 of what
    neighbours differ by, in each direction.
    read: "element", or "normalized": 8- and 16-bit integers as float, 0 to 1 or -1 to 1.
    memory: "array" copies the array once, when the texture is made, in the order that a GPU reads
    best; "linear" shares the memory of a C-contiguous array of 1 dimension, which the caller then
    keeps from being written while kernels read it.
    device: where it is to be, by default where `array` is (NumPy's are on the CPU).

    Waits for the copy. Raises ArgumentError for what textures cannot do, DeviceError from the
    driver. int(texture) is the handle; it is destroyed with this object, after all work of the device.
    """

    def __new__(
        cls,
        array: Any,
        *,
        address: str | tuple[str, ...] = "clamp",
        filter: str = "point",
        normalized: bool = False,
        read: str = "element",
        memory: str = "array",
        device: Any = None,
    ) -> Texture:
        source = _checked("Texture", array, device)
        words = (address,) * source.ndim if isinstance(address, str) else tuple(address)
        if len(words) != source.ndim:
            raise _core.ArgumentError(
                f"Texture: expected address as one word or {source.ndim}, one a direction, got {address!r}"
            )
        modes = [_ADDRESS[_chosen("Texture", "address", word, _ADDRESS)] for word in words]
        linear = _FILTER[_chosen("Texture", "filter", filter, _FILTER)]
        fraction = _READ[_chosen("Texture", "read", read, _READ)]
        shared = _chosen("Texture", "memory", memory, _MEMORY) == "linear"
        _check_reading(source, words, linear=linear, normalized=normalized, fraction=fraction)
        if shared and (source.ndim != 1 or not source.flags.c_contiguous or linear or normalized):
            raise _core.ArgumentError(
                "Texture: memory='linear' is for tex1Dfetch: expected a C-contiguous array of 1 dimension, "
                f"filter='point' and normalized=False, got shape {source.shape}, strides {source.strides}"
            )
        modes += [_ADDRESS["clamp"]] * (3 - len(modes))
        with contextlib.ExitStack() as kept:
            texels = source if shared else _packed(source)
            if source.device.kind == "cpu":
                record = _record(
                    texels,
                    address=modes,
                    linear=linear,
                    normalized=bool(normalized),
                    as_fraction=fraction,
                )
                kept.callback(lambda held: None, (texels, record))
                return cls._made(ctypes.addressof(record), source, kept)
            source.sync()
            make = _cuda_arrays.texture_of_memory if shared else _cuda_arrays.texture
            reading = _cuda_arrays.Reading(modes, linear, bool(normalized), bool(fraction))
            return cls._made(make(texels, reading, kept), source, kept)


def _check_reading(
    source: _core.Array, words: tuple[str, ...], *, linear: int, normalized: bool, fraction: int
) -> None:
    name = source.dtype.name
    if fraction and name not in _FRACTIONS:
        raise _core.ArgumentError(
            f"Texture: read='normalized' is for {', '.join(_FRACTIONS)}, got {name}; use read='element'"
        )
    if linear and not (fraction or name == "float32"):
        raise _core.ArgumentError(
            f"Texture: filter='linear' needs real values, got {name}; use read='normalized' for 8- and 16-bit "
            "integers, or astype('float32')"
        )
    if not normalized and {"wrap", "mirror"} & set(words):
        raise _core.ArgumentError(
            f"Texture: address {words!r} repeats the array, which only normalized=True does; use 'clamp' or "
            "'border', or coordinates from 0 to 1"
        )


class Surface(_Object):
    """A surface object: memory of 1 to 3 dimensions that kernels read and write by coordinates.

    Starts as a copy of `array`, of which the last dimension is x; ``get()`` gives what is in it.
    Kernels take it as ``cudaSurfaceObject_t`` and use ``surf1Dread<T>``, ``surf2Dwrite<T>`` and their
    like, whose x counts bytes. dtypes as Texture's. Raises as Texture.
    """

    _memory: Any

    def __new__(cls, array: Any, *, device: Any = None) -> Surface:
        source = _checked("Surface", array, device)
        memory: Any = _packed(source)
        with contextlib.ExitStack() as kept:
            if source.device.kind == "cpu":
                record = _record(memory)
                kept.callback(lambda held: None, record)
                handle = ctypes.addressof(record)
            else:
                handle, memory = _cuda_arrays.surface(memory, kept)
            made: Surface = cls._made(handle, source, kept)
            made._memory = memory
            return made

    def get(self) -> _core.Array:
        """A new array with what the surface holds after all work that the device has been given."""
        if self.device.kind == "cpu":
            return self._memory.copy()
        out = _core.empty(self.shape, dtype=self.dtype, device=self.device)
        self.device.synchronize()
        _cuda_arrays.read(self._memory, out)
        return out
