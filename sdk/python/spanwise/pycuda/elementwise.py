# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.elementwise``."""

import re

import numpy as np

import spanwise as sw

from ._array import GPUArray, splay
from ._launch import on_stream
from ._missing import module_getattr
from ._types import ScalarArg, VectorArg, dtype_to_ctype, parse_c_arg
from .compiler import SourceModule, without_headers

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "get_linear_combination_kernel",
]

_LOOP = """
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (size_t)blockDim.x)
  {{ {operation}; }}"""

_RANGE = """
  const long long _count = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  for (long long _k = blockIdx.x * (long long)blockDim.x + threadIdx.x; _k < _count;
       _k += gridDim.x * (long long)blockDim.x)
  {{ const long long i = start + _k * step;
    {operation}; }}"""

_KERNEL = """#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({arguments})
{{
  {loop_prep};
  {loop}
  {after_loop};
}}
"""


def _module(loop, arguments, operation, name, keep, options, preamble, loop_prep, after_loop):
    source = _KERNEL.format(
        preamble=preamble, name=name, loop_prep=loop_prep, after_loop=after_loop,
        arguments=", ".join(argument.declarator() for argument in arguments),
        loop=loop.format(operation=operation),
    )  # fmt: skip
    return SourceModule(source, options=options, keep=keep, no_extern_c=True)


def get_elwise_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="",
    after_loop="",
):  # fmt: skip
    """A module with a kernel that runs `operation` for each i below its argument n."""
    return _module(
        _LOOP, arguments, operation, name, keep, options, preamble, loop_prep, after_loop
    )


def get_elwise_range_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="",
    after_loop="",
):  # fmt: skip
    """A module with a kernel that runs `operation` for each i of its arguments start, stop, step."""
    return _module(
        _RANGE, arguments, operation, name, keep, options, preamble, loop_prep, after_loop
    )


def _parsed(arguments):
    return (
        [parse_c_arg(text) for text in arguments.split(",")]
        if isinstance(arguments, str)
        else list(arguments)
    )


def get_elwise_kernel_and_types(
    arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs
):
    """(module, kernel, its arguments) for pointers and scalars; n, or start, stop and step, are
    added at the end."""
    arguments = _parsed(arguments)
    if use_range:
        arguments += [ScalarArg(np.intp, part) for part in ("start", "stop", "step")]
        module = get_elwise_range_module(arguments, operation, name, keep, options, **kwargs)
    else:
        arguments += [ScalarArg(np.uintp, "n")]
        module = get_elwise_module(arguments, operation, name, keep, options, **kwargs)
    kernel = module.get_function(name)
    return module, kernel.prepare("".join(x.struct_char for x in arguments)), arguments


def get_elwise_kernel(arguments, operation, name="kernel", keep=False, options=None, **kwargs):
    """The kernel of get_elwise_kernel_and_types()."""
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[1]


def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """(kernel, []) for z = a0 * x0 + a1 * x1 ...; `summand_descriptors` are (is_vector,
    dtype of a, dtype of x) or (dtype of a, dtype of x). A factor that is a vector is its element 0."""
    arguments, terms = [], []
    for number, summand in enumerate(summand_descriptors):
        is_vector, *dtypes = summand if len(summand) == 3 else (False, *summand)
        factor = VectorArg if is_vector else ScalarArg
        arguments += [factor(dtypes[0], f"a{number}"), VectorArg(dtypes[1], f"x{number}")]
        terms.append(f"a{number}{'[0]' if is_vector else ''} * x{number}[i]")
    arguments.append(VectorArg(dtype_z, "z"))
    return get_elwise_kernel(arguments, f"z[i] = {' + '.join(terms)}", "linear_combination"), []


def _in_memory_order(arrays):
    """The arrays as Spanwise's, transposed if all are in Fortran order, so that i is the place in
    memory."""
    flags = [x.flags for x in arrays]
    transposed = all(f.f_contiguous for f in flags) and not all(f.c_contiguous for f in flags)
    return [x.array.T if transposed else x.array for x in arrays]


class ElementwiseKernel:
    """A CUDA C statement that runs for each index i of arrays: ``ElementwiseKernel("float *z, float
    a, float *x", "z[i] = a * x[i]")``. Arrays may have any strides, and i counts their elements in
    the order of memory. With ``range=`` or ``slice=`` it runs for these i only, and arrays have to be
    contiguous. Raises CompileError at the first call."""

    def __init__(self, arguments, operation, name="kernel", keep=False, options=None, **kwargs):
        self.arguments = arguments
        self._parts = {
            "operation": operation,
            "name": name,
            "keep": keep,
            "options": options,
            **kwargs,
        }
        self._kernel = self._range_kernel = None

    def _whole(self):
        if self._kernel is None:
            parts = {**self._parts, "keep": False}
            parts["preamble"] = without_headers(parts.get("preamble", ""))
            arguments = self.arguments
            if not isinstance(arguments, str):
                arguments = ", ".join(argument.declarator() for argument in arguments)
            self._kernel = sw.ElementwiseKernel(arguments, **parts)
        return self._kernel

    def __call__(self, *args, range=None, slice=None, stream=None):
        if range is not None or slice is not None:
            return self._on_range(args, range, slice, stream)
        arrays = [x for x in args if isinstance(x, GPUArray)]
        ordered = iter(_in_memory_order(arrays))
        values = [next(ordered) if isinstance(x, GPUArray) else x for x in args]
        with on_stream(stream):
            self._whole()(*values)

    def _on_range(self, args, range, slice, stream):
        if self._range_kernel is None:
            _, self._range_kernel, _ = get_elwise_kernel_and_types(
                self.arguments, use_range=True, **self._parts
            )
        first = next(x for x in args if isinstance(x, GPUArray))
        chosen = range if slice is None else np_range(slice, first.size)
        step = 1 if chosen.step is None else chosen.step
        count = -(-abs(chosen.stop - chosen.start) // abs(step))
        grid, block = splay(count)
        self._range_kernel.prepared_async_call(
            grid, block, stream, *args, chosen.start, chosen.stop, step
        )

    def get_texref(self, name, use_range=False):
        """Always raises NotSupportedError: CUDA 12 removed texture references."""
        raise sw.NotSupportedError(
            f"ElementwiseKernel.get_texref({name!r}): CUDA 12 removed texture references; pass the array as a "
            "parameter"
        )


def np_range(part, size):
    """The range of a slice of `size` elements."""
    return range(*part.indices(size))


def declared(arguments):
    """Whether each of the C declarations is a pointer."""
    if not isinstance(arguments, str):
        return [isinstance(argument, VectorArg) for argument in arguments]
    return ["*" in text or "[" in text for text in re.split(r",(?![^<]*>)", arguments)]


__getattr__ = module_getattr("pycuda.elementwise", __name__)
