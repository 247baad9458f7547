# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Texture references, which CUDA 12 removed, implemented by texture objects.

In the source of a module ``texture<float, 2> t;`` becomes a constant of type cudaTextureObject_t and
``tex2D(t, x, y)`` becomes ``tex2D<float>(t, x, y)``. TextureReference sets the constant before the
next launch of a kernel of the module.
"""

import enum
import re

import numpy as np

import spanwise as sw

from .._driver.memory import bytes_on_device
from ._copies import memcpy_htod
from ._memory import as_memory
from ._types import get_or_register_dtype

__all__ = [
    "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER", "Array", "TextureReference",
    "address_mode", "array_format", "bind_array_to_texref", "filter_mode", "gpuarray_to_array",
    "make_multichannel_2d_array", "matrix_to_array", "matrix_to_texref", "np_to_array",
]  # fmt: skip

address_mode = enum.IntEnum("address_mode", "WRAP CLAMP MIRROR BORDER", start=0)
filter_mode = enum.IntEnum("filter_mode", "POINT LINEAR", start=0)
array_format = enum.IntEnum(
    "array_format",
    {
        "UNSIGNED_INT8": 1, "UNSIGNED_INT16": 2, "UNSIGNED_INT32": 3, "SIGNED_INT8": 8,
        "SIGNED_INT16": 9, "SIGNED_INT32": 10, "HALF": 16, "FLOAT": 32,
    },
)  # fmt: skip
TRSF_READ_AS_INTEGER, TRSF_NORMALIZED_COORDINATES = 1, 2

_DECLARATION = re.compile(
    r"(?:static\s+)?\btexture\s*<\s*([\w\s]+?)\s*(?:,\s*(\w+)\s*(?:,\s*(\w+)\s*)?)?>\s*(\w+)\s*;"
)
#: Second template argument of a declaration -> rank.
_RANKS = {"1": 1, "2": 2, "3": 3, **{f"cudaTextureType{n}D": n for n in (1, 2, 3)}}


class TextureDeclaration:
    """The declaration of a texture reference: its element type, rank and read mode."""

    def __init__(self, element, rank, mode):
        dtype = get_or_register_dtype(element)
        self.channels = len(dtype.names or "x")
        self.dtype = np.dtype(dtype[0] if dtype.names else dtype)
        self.rank = _RANKS.get(rank or "1")
        self.read = "normalized" if mode == "cudaReadModeNormalizedFloat" else "element"
        self.result = element
        if self.read == "normalized":
            self.result = "float" if self.channels == 1 else f"float{self.channels}"


def with_texture_objects(source):
    """(source with texture objects, {name: TextureDeclaration}). Declarations of types or ranks that
    textures do not have are unchanged."""
    declarations = {}

    def declared_constant(match):
        element, rank, mode, name = match.groups()
        try:
            declared = TextureDeclaration(" ".join(element.split()), rank, mode)
        except TypeError:
            return match[0]
        if declared.rank is None:
            return match[0]
        declarations[name] = declared
        return f"__constant__ cudaTextureObject_t {name};"

    source = _DECLARATION.sub(declared_constant, source)
    for name, declared in declarations.items():
        fetch = re.compile(rf"\b(tex(?:1Dfetch|[123]D))\s*\(\s*{name}\b")
        source = fetch.sub(rf"\1<{declared.result}>({name}", source)
    return source, declarations


class TextureReference:
    """A texture reference of a module: set_array() or set_address() sets the memory that kernels
    read, the modes how they read it."""

    def __init__(self, declared, address):  # the address of the module's constant
        self._declared, self._address = declared, address
        self._source, self._linear, self._texture = None, False, None
        self._modes, self._filter, self._flags = [address_mode.CLAMP] * 3, filter_mode.POINT, 0

    def _set(self, **attributes):
        self.__dict__.update(attributes)
        self._texture = None  # update() makes it again

    def set_array(self, array):
        """Reads from the Array `array`, which is copied before the next launch."""
        self._set(_source=array.array, _linear=False)

    def set_address(self, devptr, bytes, allow_offset=False):
        """Reads elements from device memory, by tex1Dfetch. Returns the offset, 0."""
        declared = self._declared
        memory = as_memory(devptr, bytes)
        flat = bytes_on_device(memory, int(bytes), "set_address").view(declared.dtype)
        shape = (-1, declared.channels) if declared.channels > 1 else (-1,)
        self._set(_source=flat.reshape(shape), _linear=True)
        return 0

    def set_address_mode(self, dim, mode):
        """How out-of-range coordinates are read along axis `dim`, 0 for x: an address_mode."""
        self._modes[dim] = address_mode(mode)
        self._set()

    def set_filter_mode(self, mode):
        self._set(_filter=filter_mode(mode))

    def set_flags(self, flags):
        """With TRSF_NORMALIZED_COORDINATES coordinates are from 0 to 1. Other flags have no effect."""
        self._set(_flags=int(flags))

    def get_flags(self):
        return self._flags

    def set_format(self, fmt, num_components):
        """Only checks the number of channels, since the declaration in the source determines the
        format. Raises ValueError for another number."""
        if num_components != self._declared.channels:
            raise ValueError(
                f"set_format: expected {self._declared.channels} channels, as declared, got {num_components}"
            )

    def update(self):
        """Makes the texture that the settings describe, and sets the module's constant."""
        if self._texture is not None or self._source is None:
            return
        declared = self._declared
        options = {} if declared.channels == 1 else {"channels": declared.channels}
        if not self._linear:
            modes = tuple(mode.name.lower() for mode in self._modes[: declared.rank])
            options.update(address=modes, filter=self._filter.name.lower())
            options["normalized"] = bool(self._flags & TRSF_NORMALIZED_COORDINATES)
        texture = sw.Texture(
            self._source, read=declared.read, device=sw.device(),
            memory="linear" if self._linear else "array", **options,
        )  # fmt: skip
        sw.device().synchronize()  # running launches read the previous handle
        memcpy_htod(self._address, np.uint64(texture.handle))
        sw.device().synchronize()
        self._texture = texture


class Array:
    """CUDA's array, the argument of TextureReference.set_array(): a copy of an array with axes (z,) y,
    x (, channels)."""

    def __init__(self, array):
        self.array = array


def np_to_array(nparray, order, allowSurfaceBind=False):  # noqa: N803  (PyCUDA's name)
    """An Array with the elements of a NumPy array; x is the last axis for order "C", else the
    first."""
    return Array(sw.array(np.ascontiguousarray(nparray if _is_c(order) else nparray.T)))


def matrix_to_array(matrix, order, allow_double_hack=False):
    """np_to_array() for two axes."""
    return np_to_array(matrix, order)


def gpuarray_to_array(gpuarray, order, allowSurfaceBind=False):  # noqa: N803  (PyCUDA's name)
    """np_to_array() for a GPUArray."""
    return Array((gpuarray.array if _is_c(order) else gpuarray.array.T).copy())


def make_multichannel_2d_array(matrix, order):
    """An Array from axes (y, x, channel) for order "C", (channel, x, y) for "F"."""
    return np_to_array(matrix, order)


def _is_c(order):
    if order not in ("C", "F"):
        raise ValueError(f"array of a texture: expected order 'C' or 'F', got {order!r}")
    return order == "C"


def bind_array_to_texref(ary, texref):
    """texref.set_array(ary), with the default modes."""
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix, texref, order):
    """Binds a copy of a NumPy array with two axes."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)
