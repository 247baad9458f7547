# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from CUDA C/C++ source: what ``sw`` has of them, in one place.

The compiled half does the work; here are the parts that are no launch.
"""

import struct

from ._core import (
    KernelArgumentError,
    KernelAttributes,
    KernelFunction,
    KernelParameter,
    SourceModule,
    dtype,
    kernel_cache,
)

__all__ = [
    "KernelAttributes",
    "KernelFunction",
    "KernelParameter",
    "SourceModule",
    "kernel_cache",
]

_POINTER_BYTES = struct.calcsize("P")
# Complex numbers, which the struct module lacks and PyCUDA's strings have.
_COMPLEX_BYTES = {"F": 8, "D": 16}


def _sizes_of_format(text):
    """The sizes of "PPif": one letter an argument, a number before a letter repeating it."""
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
        sizes += [size] * int(repeat or 1)
        repeat = ""
    return sizes


def _size_of_type(arg_type):
    """A dtype has its size; whatever else PyCUDA takes stands for a pointer."""
    if isinstance(arg_type, str):
        return sum(_sizes_of_format(arg_type))
    try:
        return dtype(arg_type).itemsize
    except (TypeError, ValueError):
        return _POINTER_BYTES


def check_prepared(function, arg_types):
    """Raises KernelArgumentError unless PyCUDA's `arg_types` have the kernel's count and sizes."""
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
    for place, (size, parameter) in enumerate(zip(sizes, parameters, strict=False), 1):
        if size != parameter.size:
            raise KernelArgumentError(
                f"kernel {function.name!r}, prepare: expected a type of {parameter.size} bytes for argument {place} "
                f"({parameter.type} {parameter.name}), got one of {size} bytes; use the parameter's own type"
            )
