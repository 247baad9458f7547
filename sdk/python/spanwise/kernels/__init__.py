# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The classes for kernels from CUDA C/C++ source, and PyCUDA's attribute and prepare() functions.

Compiling and launching are in the extension module ``_core``.
"""

import struct

from .._core import (
    Event,
    KernelArgumentError,
    KernelAttributes as KernelAttributes,
    KernelFunction as KernelFunction,
    KernelParameter as KernelParameter,
    Module as Module,
    SourceModule as SourceModule,
    dtype,
    kernel_cache as kernel_cache,
)
from ._struct_fields import field_mismatch as field_mismatch

_MAX_ARGUMENTS = 32764  # the bytes of all parameters that CUDA permits
_POINTER_BYTES = struct.calcsize("P")
# Complex types: PyCUDA's format letters have them, the struct module does not.
_COMPLEX_BYTES = {"F": 8, "D": 16}


def _sizes_of_format(text):
    """The bytes of each argument of a format such as "PPif"; "2P" stands for "PP"."""
    sizes, repeat = [], ""
    for letter in text.replace(" ", ""):
        if letter.isdigit():
            repeat += letter
            continue
        try:
            size = _COMPLEX_BYTES.get(letter) or struct.calcsize(letter)
        except struct.error:
            raise KernelArgumentError(
                f"prepare: expected letters of the struct module, F or D, got {letter!r} in {text!r}; "
                "write P for a pointer, i for int, f for float"
            ) from None
        count, repeat = int(repeat or 1), ""
        if len(sizes) + count > _MAX_ARGUMENTS:
            raise KernelArgumentError(
                f"prepare: {text!r} has more arguments than the {_MAX_ARGUMENTS} of a kernel"
            )
        sizes += [size] * count
    return sizes


def _size_of_type(arg_type):
    """The bytes of a format string or dtype; any other type (PyCUDA's intp, ...) is a pointer."""
    if isinstance(arg_type, str):
        return sum(_sizes_of_format(arg_type))
    try:
        return dtype(arg_type).itemsize
    except (TypeError, ValueError):
        return _POINTER_BYTES


def prepare(function, arg_types):
    """`function` itself. Raises KernelArgumentError unless PyCUDA's `arg_types` match the kernel's
    parameters in number and size."""
    if isinstance(arg_types, str):
        sizes = _sizes_of_format(arg_types)
    else:
        sizes = [_size_of_type(arg_type) for arg_type in arg_types]
    parameters = function.parameters
    if len(sizes) != len(parameters):
        raise KernelArgumentError(
            f"kernel {function.name!r}, prepare: expected {len(parameters)} argument types, got {len(sizes)}; "
            "name one for each parameter"
        )
    for position, (size, parameter) in enumerate(zip(sizes, parameters, strict=True), 1):
        if size != parameter.size:
            raise KernelArgumentError(
                f"kernel {function.name!r}, prepare: expected a type of {parameter.size} bytes for argument {position} "
                f"({parameter.type} {parameter.name}), got one of {size} bytes; use the parameter's own type"
            )
    return function


def _argument_error(function, caller, expected, got):
    return KernelArgumentError(
        f"kernel {function.name!r}, {caller}: expected {expected}, got {got}"
    )


# PyCUDA's driver.function_attribute -> the attribute of KernelFunction.
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": "max_threads_per_block",
    "SHARED_SIZE_BYTES": "shared_size_bytes",
    "CONST_SIZE_BYTES": "const_size_bytes",
    "LOCAL_SIZE_BYTES": "local_size_bytes",
    "NUM_REGS": "num_regs",
}
_DYNAMIC_SHARED = "MAX_DYNAMIC_SHARED_SIZE_BYTES"
_CACHE_CONFIGS = ("PREFER_NONE", "PREFER_SHARED", "PREFER_L1", "PREFER_EQUAL")


def get_attribute(function, attribute):
    """The value of a driver.function_attribute. Raises KernelArgumentError for an unknown one."""
    if attribute == _DYNAMIC_SHARED:
        properties = function.device.properties
        return properties.max_shared_bytes_optin - function.shared_size_bytes
    if attribute not in _ATTRIBUTES:
        expected = f"one of {', '.join(_ATTRIBUTES)} or {_DYNAMIC_SHARED}"
        raise _argument_error(function, "get_attribute", expected, repr(attribute))
    return getattr(function, _ATTRIBUTES[attribute])


def set_attribute(function, attribute, value):
    """Checks that the device allows `value` bytes of dynamic shared memory, and sets nothing: a
    launch raises the limit itself. Raises KernelArgumentError for any other attribute or value."""
    if attribute != _DYNAMIC_SHARED:
        expected = f"{_DYNAMIC_SHARED}, the only attribute that can be set"
        raise _argument_error(function, "set_attribute", expected, repr(attribute))
    max_shared = get_attribute(function, _DYNAMIC_SHARED)
    if not 0 <= value <= max_shared:
        expected = f"0 to {max_shared} bytes of dynamic shared memory on {function.device}"
        raise _argument_error(function, "set_attribute", expected, value)


def set_cache_config(function, config):
    """Accepts the names of driver.func_cache and has no effect: since compute capability 7.0 the L1
    cache and shared memory need no such setting. Raises KernelArgumentError for other names."""
    if config not in _CACHE_CONFIGS:
        expected = f"one of {', '.join(_CACHE_CONFIGS)}"
        raise _argument_error(function, "set_cache_config", expected, repr(config))


def prepared_timed_call(function, grid, block, *args, shared_size=0):
    """Launches on the current stream. Returns a function that waits for the kernel and returns its
    duration in seconds, measured by two events."""
    start, end = Event(timing=True), Event(timing=True)
    start.record(device=function.device)
    function.prepared_call(grid, block, *args, shared_size=shared_size)
    end.record(device=function.device)

    def seconds():
        end.synchronize()
        return start.elapsed(end) / 1000

    return seconds
