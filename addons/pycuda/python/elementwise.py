# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.elementwise``."""

import numpy as np

import spanwise as sw

from ._array import GPUArray, is_opaque, require_contiguous, selected_indices, splay
from ._devices import on_stream, pycuda_compile_error
from ._modules import _PreambleVariables, with_spanwise_headers
from ._types import ScalarArg, VectorArg, dtype_to_ctype, parse_c_args
from ._unsupported import module_getattr
from .compiler import SourceModule

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


class _BoundScalar:
    """Takes the place of a texture reference: GPUArray.bind_to_texref_ext binds an array, of which
    the kernel reads element 0."""

    bound = None

    def set_address(self, devptr, bytes):
        self.bound = devptr
        return 0


class _LinearCombination:
    """A kernel whose first arguments are the bound arrays."""

    def __init__(self, kernel, scalars):
        self._kernel, self._scalars = kernel, scalars

    def prepared_call(self, grid, block, *args, shared_size=0):
        self.prepared_async_call(grid, block, None, *args, shared_size=shared_size)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        missing = [i for i, scalar in enumerate(self._scalars) if scalar.bound is None]
        if missing:
            raise ValueError(
                f"linear_combination: the factors {missing} are not bound; call x.bind_to_texref_ext(references[i])"
            )
        args = (*(scalar.bound for scalar in self._scalars), *args)
        self._kernel.prepared_async_call(grid, block, stream, *args, shared_size=shared_size)


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


def _module_maker(loop, own_name, doc):
    """The function `own_name`, which compiles a kernel with the text `loop`."""

    def make(
        arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="",
        after_loop="",
    ):  # fmt: skip
        source = _KERNEL.format(
            preamble=preamble, name=name, loop_prep=loop_prep, after_loop=after_loop,
            arguments=", ".join(argument.declarator() for argument in arguments),
            loop=loop.format(operation=operation),
        )  # fmt: skip
        return SourceModule(source, options=options, keep=keep, no_extern_c=True)

    make.__name__ = make.__qualname__ = own_name
    make.__doc__ = doc
    return make


get_elwise_module = _module_maker(
    _LOOP,
    "get_elwise_module",
    "A module with a kernel that runs `operation` for each i below its argument n.",
)
get_elwise_range_module = _module_maker(
    _RANGE,
    "get_elwise_range_module",
    "A module with a kernel that runs `operation` for each i of its arguments start, stop, step.",
)


def get_elwise_kernel_and_types(
    arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs
):
    """(module, kernel, its arguments) for pointers and scalars; n, or start, stop and step, are
    added at the end."""
    arguments = parse_c_args(arguments)
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
    """(kernel, references) for z = a0 * x0 + a1 * x1 ...; each summand is (whether the factor is an
    element of an array, dtype of the factor, dtype of x). Arrays for the factors are bound by
    ``a.bind_to_texref_ext(references[i])``."""
    pointers, arguments, terms = [], [], []
    for number, (in_array, factor, vector) in enumerate(summand_descriptors):
        name = f"a{number}"
        if in_array:
            pointers.append(VectorArg(factor, name))
        else:
            arguments.append(ScalarArg(factor, name))
        arguments.append(VectorArg(vector, f"x{number}"))
        terms.append(f"{name}{'[0]' if in_array else ''} * x{number}[i]")
    arguments.append(VectorArg(dtype_z, "z"))
    operation = f"z[i] = {' + '.join(terms)}"
    kernel = get_elwise_kernel(pointers + arguments, operation, "linear_combination")
    scalars = [_BoundScalar() for _ in pointers]
    return _LinearCombination(kernel, scalars), scalars


def _in_memory_order(arrays):
    """The arrays as Spanwise's, transposed if all are in Fortran order, so that i counts elements in
    the order of memory."""
    flags = [x.flags for x in arrays]
    transposed = all(f.f_contiguous for f in flags) and not all(f.c_contiguous for f in flags)
    return [x.array.T if transposed else x.array for x in arrays]


class ElementwiseKernel(_PreambleVariables):
    """A CUDA C statement that runs for each index i of arrays: ``ElementwiseKernel("float *z, float
    a, float *x", "z[i] = a * x[i]")``. Arrays may have any strides, and i counts their elements in
    the order of memory. With ``range=`` or ``slice=`` it runs for these i only, and arrays have to be
    contiguous. Raises CompileError at the first call."""

    def __init__(self, arguments, operation, name="kernel", keep=False, options=None, **kwargs):
        self.arguments = arguments
        self._parts = {
            "operation": operation, "name": name, "keep": keep, "options": options, **kwargs,
        }  # fmt: skip
        super().__init__()
        self._strided, self._contiguous = None, {}

    def _strided_kernel(self):
        if self._strided is None:
            parts = {**self._parts, "keep": False}  # only SourceModule takes keep=True
            parts["preamble"] = with_spanwise_headers(parts.get("preamble", ""))
            self._strided = sw.ElementwiseKernel(self.arguments, **parts)
        return self._strided

    def __call__(self, *args, range=None, slice=None, stream=None):
        arrays = [x for x in args if isinstance(x, GPUArray)]
        is_whole = range is None and slice is None
        if not is_whole or any(is_opaque(x.dtype) for x in arrays):
            require_contiguous(arrays, "ElementwiseKernel")
            indices = selected_indices(range, slice, arrays[0].size)
            return self._launch_contiguous(args, indices, not is_whole, stream)
        ordered = iter(_in_memory_order(arrays))
        values = [next(ordered) if isinstance(x, GPUArray) else x for x in args]
        with on_stream(stream):
            try:
                self._strided_kernel()(*values)
            except sw.CompileError as error:
                raise pycuda_compile_error(error, "an ElementwiseKernel") from error

    def _launch_contiguous(self, args, indices, use_range, stream):
        """Launches the kernel of pointers and scalars, whose last arguments are n, or with `use_range`
        start, stop and step."""
        if use_range not in self._contiguous:
            self._contiguous[use_range] = get_elwise_kernel_and_types(
                self.arguments, use_range=use_range, **self._parts
            )[:2]
        module, kernel = self._contiguous[use_range]
        n = len(indices)
        bounds = (indices.start, indices.stop, indices.step) if use_range else (n,)
        with self._variables_in(module, stream):
            kernel.prepared_async_call(*splay(n), stream, *args, *bounds)

    def get_texref(self, name, use_range=False):
        """Always raises NotSupportedError: CUDA 12 removed texture references."""
        raise sw.NotSupportedError(
            f"ElementwiseKernel.get_texref({name!r}): CUDA 12 removed texture references; pass the array as a "
            "parameter"
        )


__getattr__ = module_getattr("pycuda.elementwise", __name__)
