# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules and kernels called as PyCUDA's: any memory for any pointer, host arrays by In, Out and InOut,
and texture references.

CUDA 12 removed texture references; texture objects implement them. In the source of a module
``texture<float, 2> t;`` becomes a constant of type cudaTextureObject_t and ``tex2D(t, x, y)`` becomes
``tex2D<float>(t, x, y)``. TextureReference sets the constant before the next launch of a kernel of the
module.
"""

import contextlib
import enum
import re

import numpy as np

import spanwise as sw
from spanwise.driver import bytes_on_device
from spanwise.kernels import field_mismatch

from ._array import GPUArray
from ._devices import (
    DeviceAllocation,
    allocation_at,
    as_allocation,
    as_memory,
    is_address,
    mem_alloc,
    memcpy_dtod_async,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    registered,
)
from ._types import get_or_register_dtype

__all__ = [
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "ArgumentHandler",
    "Array",
    "Function",
    "In",
    "InOut",
    "Module",
    "Out",
    "TextureReference",
    "address_mode",
    "array_format",
    "bind_array_to_texref",
    "filter_mode",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "matrix_to_texref",
    "module_from_buffer",
    "module_from_file",
    "np_to_array",
]  # fmt: skip


class ArgumentHandler:
    """A host array as a kernel argument, in device memory that is allocated for it."""

    def __init__(self, ary):
        self.array = ary
        self.dev_alloc = None

    def get_device_alloc(self):
        if self.dev_alloc is None:
            self.dev_alloc = mem_alloc(max(self.array.nbytes, 1))
        return self.dev_alloc

    def pre_call(self, stream):
        """Queues the work before the kernel."""

    def post_call(self, stream):
        """Queues the work after the kernel."""


class In(ArgumentHandler):
    """A host array that is copied to the device before the kernel."""

    def pre_call(self, stream):
        memcpy_htod_async(self.get_device_alloc(), self.array, stream)


class Out(ArgumentHandler):
    """A host array that is filled from the device after the kernel."""

    def post_call(self, stream):
        memcpy_dtoh_async(self.array, self.get_device_alloc(), stream)


class InOut(In, Out):
    """A host array that is copied to the device before the kernel and back after it."""


def _refuse(parameter, got, remedy):
    raise sw.KernelArgumentError(
        f"kernel call, argument '{parameter.type} {parameter.name}': got {got}; {remedy}"
    )


def _value_of(x, parameter):
    """A NumPy array as the value of a struct parameter: its element, or all its bytes. Raises
    KernelArgumentError for a pointer, and for several elements where one number is declared."""
    is_number = parameter is not None and parameter.dtype is not None and x.size != 1
    if is_number or (parameter is not None and parameter.is_pointer):
        _refuse(
            parameter,
            f"a NumPy array, {x.dtype} {x.shape}, whose memory is the host's",
            "copy it around the call, drv.In(x), drv.Out(x) or drv.InOut(x), or keep it on the device, "
            "gpuarray.to_gpu(x)",
        )
    return x.reshape(())[()] if x.size == 1 else np.frombuffer(x.tobytes(), f"V{x.nbytes}")[0]


def _check_elements(array, parameter, kernel):
    """Raises KernelArgumentError where the elements of `array` are not those that `parameter` points
    to: of another dtype, or records with fields that the struct in the source of `kernel` has elsewhere."""
    dtype = np.dtype(getattr(array, "dtype", "V1"))
    if parameter is None or not parameter.is_pointer:
        return
    if parameter.dtype is not None and not _is_read_as(dtype, parameter.dtype):
        _refuse(
            parameter,
            f"an array of {dtype}",
            f"expected {parameter.dtype}: convert it, x.astype('{parameter.dtype}'), or pass an address, such as "
            "x.gpudata",
        )
    if dtype.fields and (problem := field_mismatch(kernel.source, parameter.type, dtype)):
        raise sw.KernelArgumentError(
            f"kernel call, argument '{parameter.type} {parameter.name}': {problem}"
        )


def _memory_of(x, parameter, kernel):
    """A GPUArray, or an object like it, as an allocation. Raises KernelArgumentError for an array
    whose elements are not those of the pointer `parameter`, and for a GPUArray that is not dense.
    Users of Theano's arrays pass their strides, too."""
    _check_elements(x, parameter, kernel)
    if parameter is not None and isinstance(x, GPUArray) and not x.flags.forc:
        _refuse(
            parameter,
            f"an array with strides {x.strides} for shape {x.shape}, which a pointer does not carry",
            "pass x.copy(), or the address x.gpudata and the strides as arguments",
        )
    return as_allocation(x, getattr(x, "nbytes", 0), "kernel call")


def _is_read_as(dtype, expected):
    """Whether a pointer to `expected` reads elements of `dtype`: the same, integers of the same size,
    parts of complex numbers, and bytes or records, which have no type in C."""
    if dtype.itemsize == 1 or dtype.kind not in "iufcb" or str(dtype) == str(expected):
        return True
    kind, size = expected.kind, expected.itemsize
    is_integer = dtype.kind in "iu" and kind in "iu" and size == dtype.itemsize
    is_part = dtype.kind == "c" and kind == "f" and 2 * size == dtype.itemsize
    return dtype.isnative and (is_integer or is_part or size == 1)


def _converted(x, parameter, kernel):
    """One of PyCUDA's kernel arguments as one of Spanwise's; `parameter` is None where the number of
    arguments differs from that of the parameters."""
    if isinstance(x, ArgumentHandler):
        if type(x) in (In, Out, InOut):  # others may convert their arrays
            _check_elements(x.array, parameter, kernel)
        x = x.get_device_alloc()
    if isinstance(x, sw.driver.DeviceAllocation):
        return x
    if isinstance(x, np.ndarray):
        return _value_of(x, parameter)
    if hasattr(x, "gpudata"):
        return 0 if x.gpudata is None else _memory_of(x, parameter, kernel)
    if is_address(x):
        if not isinstance(x, int | np.integer) or (parameter is not None and parameter.is_pointer):
            return allocation_at(int(x)) or int(x)
        if x < 0 and parameter is not None and str(parameter.dtype or "").startswith("uint"):
            return int(x) % (1 << 8 * parameter.size)  # the bits, as in C
        return x
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface and not isinstance(x, sw.Array):
        address = int(interface["data"][0])
        return allocation_at(address) or (x if sw.device().kind == "cuda" else address)
    return x


def _check_separate(written):
    """Raises KernelArgumentError where two of the arrays share memory: one result would replace the
    other."""
    for i, x in enumerate(written):
        if any(np.shares_memory(x, other) for other in written[:i]):
            raise sw.KernelArgumentError(
                "kernel call: two of Out and InOut hold arrays that share memory; pass separate arrays"
            )


class Function:
    """A kernel. Calls convert their arguments to the types of the parameters; GPUArrays have to be
    dense, and they and the arrays of In, Out and InOut of the dtype that a pointer declares. Addresses
    and allocations have no type."""

    def __init__(self, function, module=None):
        self.function, self.module = function, module
        self._parameters = tuple(function.parameters)
        self._textures = () if module is None else tuple(module.textures.values())

    def _launch(self, args, block, grid, shared, stream):
        if len(args) != len(self._parameters):
            converted = [_converted(x, None, self.function) for x in args]
        else:
            pairs = zip(args, self._parameters, strict=True)
            converted = [_converted(x, p, self.function) for x, p in pairs]
        for texture in self._textures:
            texture.update()
        handlers = [x for x in args if isinstance(x, ArgumentHandler)]
        _check_separate([x.array for x in handlers if isinstance(x, Out)])
        for handler in handlers:
            handler.pre_call(stream)
        self.function(*converted, block=block, grid=grid, shared=shared, stream=stream)
        for handler in handlers:
            handler.post_call(stream)

    def __call__(
        self, *args, block=None, grid=(1, 1), stream=None, shared=0, texrefs=(), time_kernel=False
    ):
        """Launches the kernel. With `time_kernel` waits and returns the seconds, else None. The
        module's own texture references are used, whatever `texrefs` lists. Raises ValueError without
        `block`."""
        if block is None:
            raise ValueError(f"kernel {self.name!r}: expected block=(x, y, z), got none")
        if not time_kernel:
            return self._launch(args, tuple(block), tuple(grid), shared, stream)
        return self._timed(args, block, grid, shared, stream)()

    def _timed(self, args, block, grid, shared, stream):
        start, end = sw.Event(timing=True), sw.Event(timing=True)
        start.record(stream)
        self._launch(args, tuple(block), tuple(grid), shared, stream)
        end.record(stream)

        def seconds():
            end.synchronize()
            return start.elapsed(end) * 1e-3

        return seconds

    def prepare(self, arg_types, shared=None, texrefs=()):
        """Returns the function. `arg_types` are not needed: every launch is checked against the
        parameters of the kernel."""
        return self

    def prepared_call(self, grid, block, *args, shared_size=0):
        self._launch(args, tuple(block), tuple(grid), shared_size, None)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        self._launch(args, tuple(block), tuple(grid), shared_size, stream)

    def prepared_timed_call(self, grid, block, *args, shared_size=0):
        """Launches the kernel and returns a function that waits and returns the seconds."""
        return self._timed(args, block, grid, shared_size, None)

    def __getattr__(self, name):
        """num_regs, get_attribute and the other members of spanwise's kernels."""
        if name.startswith("__") or name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __repr__(self):
        return f"Function({self.function!r})"


# ---- Texture references ----


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
        self._declaration, self._address = declared, address
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
        declared = self._declaration
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
        if num_components != self._declaration.channels:
            raise ValueError(
                f"set_format: expected {self._declaration.channels} channels, as declared, got {num_components}"
            )

    def update(self):
        """Makes the texture that the settings describe, and sets the module's constant."""
        if self._texture is not None or self._source is None:
            return
        declared = self._declaration
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


# ---- PyCUDA's headers in CUDA C texts ----


_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*[<"]pycuda-(complex|helpers)\.hpp[>"][^\n]*$', re.MULTILINE
)


class _PreambleVariables:
    """A kernel of an expression with ``get_global``: its preamble is compiled into
    ``self._strided_kernel()``, and again into modules of its own."""

    def __init__(self):
        self._globals = {}

    def get_global(self, name):
        """(address, size in bytes) of a __constant__ or __device__ variable of the preamble. What is
        written there is what all later calls read. Raises spanwise.ArgumentError if there is none."""
        if name not in self._globals:
            values = self._strided_kernel().get_global(name)
            self._globals[name] = registered(DeviceAllocation(values))
        return int(self._globals[name]), self._globals[name].nbytes

    @contextlib.contextmanager
    def _variables_in(self, module, stream):
        """Launches of `module`, which has its own variables, with the values of get_global()."""
        own = [(module.get_global(name), values) for name, values in self._globals.items()]
        for (address, size), values in own:
            memcpy_dtod_async(address, int(values), size, stream)
        yield
        for (address, size), values in own:
            memcpy_dtod_async(int(values), address, size, stream)


def with_spanwise_headers(source):
    """`source` with <spanwise/complex.cuh>, which defines pycuda::complex, in the lines that include
    PyCUDA's headers."""
    return _INCLUDE.sub("#include <spanwise/complex.cuh>", source)


# ---- Loaded modules, whose variables have an address and a size ----


class Module:
    """Kernels and variables of a spanwise.Module, loaded on one device. `textures` has the texture
    references that its source declares: {name: TextureDeclaration}."""

    def __init__(self, module, textures=None):
        self.module = module
        self._globals, self.textures = {}, {}
        for name, declared in (textures or {}).items():
            self.textures[name] = TextureReference(declared, self.get_global(name)[0])

    def get_function(self, name):
        """The kernel of that name. Raises spanwise.Error if there is none."""
        return Function(self.module.get_function(name), self)

    def get_global(self, name):
        """(address, size in bytes) of a __device__ or __constant__ variable."""
        if name not in self._globals:
            self._globals[name] = registered(DeviceAllocation(self.module.get_global(name)))
        allocation = self._globals[name]
        return int(allocation), allocation.nbytes

    def get_texref(self, name):
        """The TextureReference of that name. Raises NotSupportedError for a name that the source
        does not declare with an element type and a rank that textures have."""
        if name not in self.textures:
            raise sw.NotSupportedError(
                f"get_texref({name!r}): expected one of {sorted(self.textures)}; pass a spanwise.Texture as an "
                "argument of type cudaTextureObject_t"
            )
        return self.textures[name]

    def get_surfref(self, name):
        """Always raises spanwise.NotSupportedError: CUDA 12 removed surface references."""
        raise sw.NotSupportedError(
            f"get_surfref({name!r}): CUDA 12 removed surface references; declare a parameter "
            "cudaSurfaceObject_t and pass a spanwise.Surface"
        )

    @property
    def handle(self):
        return self.module.handle


def module_from_file(filename):
    """Loads a cubin, PTX or fat binary from a file, for a GPU."""
    return Module(sw.driver.module_from_file(filename))


def module_from_buffer(buffer, options=(), message_handler=None):
    """Loads a cubin, PTX or fat binary from memory, for a GPU."""
    return Module(sw.driver.module_from_buffer(buffer, options, message_handler))
