# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.reduction``."""

import numpy as np

import spanwise as sw

from ._array import GPUArray, is_opaque, require_contiguous, selected_indices
from ._devices import mem_alloc, on_stream, pycuda_compile_error
from ._modules import _PreambleVariables, with_spanwise_headers
from ._types import VectorArg, dtype_to_ctype, parse_c_args
from ._unsupported import module_getattr
from .compiler import SourceModule
from .tools import context_dependent_memoize

__all__ = [
    "ReductionKernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]

_BLOCK = 64
_ELEMENTS_PER_THREAD = 64

# i takes _n values, from _start in steps of _step. Thread t of _total combines map_expr for every
# _total-th of them, beginning with number t; further launches combine the results until one is left.
_SOURCE = """#include <pycuda-complex.hpp>
{preamble}
typedef {type} _out_type;
#define _REDUCE(a, b) ({reduce_expr})
extern "C" __global__ void {name}_map(_out_type *_out, {arguments}, long long _start,
                                      long long _step, size_t _total, size_t _n)
{{
  const size_t _t = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (_t >= _total) return;
  _out_type _sum = {neutral};
  for (size_t _k = _t; _k < _n; _k += _total) {{
    const size_t i = _start + _k * _step;
    _sum = _REDUCE(_sum, ({map_expr}));
  }}
  _out[_t] = _sum;
}}
extern "C" __global__ void {name}_combine(_out_type *_out, const _out_type *_in, size_t _total, size_t _n)
{{
  const size_t _t = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (_t >= _total) return;
  _out_type _sum = {neutral};
  for (size_t i = _t; i < _n; i += _total) _sum = _REDUCE(_sum, _in[i]);
  _out[_t] = _sum;
}}
"""


class ReductionKernel(_PreambleVariables):
    """Maps the elements of arrays and combines the results: ``ReductionKernel(np.float32, "0",
    "a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")``.

    A call returns an array without axes, or writes to ``out=``. i counts the elements of the first
    array, or takes the values of ``range=`` or ``slice=``. Arrays of one shape may have any strides,
    and i counts in C order; results of record dtypes, arrays of several shapes, and ``range=`` or
    ``slice=`` need contiguous ones, whose elements x[i] are in the order of memory, and raise
    CopyNeededError otherwise. `keep` is ignored. Kernels are compiled at their first use,
    which may raise CompileError.
    """

    def __init__(
        self, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel",
        keep=False, options=None, preamble="", allocator=None,
    ):  # fmt: skip
        super().__init__()
        self.dtype_out = np.dtype(dtype_out)
        self.arguments = parse_c_args(arguments)
        self._texts = {"neutral": neutral, "reduce_expr": reduce_expr, "preamble": preamble}
        vectors = (x for x in self.arguments if isinstance(x, VectorArg))
        self._map_expr = map_expr or f"{next(vectors).name}[i]"
        self._name, self._options, self._allocator = name, options, allocator
        self._declarations = arguments
        self._kernel = self._module = None

    def __call__(self, *args, stream=None, out=None, allocator=None, range=None, slice=None):
        allocator = allocator or self._allocator
        if out is None:
            out = GPUArray((), self.dtype_out, allocator or mem_alloc)
        arrays = [x for x in args if isinstance(x, GPUArray)]
        is_whole = range is None and slice is None
        has_one_shape = len({x.shape for x in arrays}) == 1
        with on_stream(stream):
            if is_whole and has_one_shape and not is_opaque(self.dtype_out):
                values = [x.array if isinstance(x, GPUArray) else x for x in args]
                try:
                    self._strided_kernel()(*values, out=out.array.reshape(()))
                except sw.CompileError as error:
                    raise pycuda_compile_error(error, "a ReductionKernel") from error
            else:
                require_contiguous(arrays, "ReductionKernel")
                indices = selected_indices(range, slice, arrays[0].size)
                with self._variables_in(self._contiguous_module(), stream):
                    self._by_address(args, indices, out)
        return out

    def _strided_kernel(self):
        if self._kernel is None:
            preamble = with_spanwise_headers(self._texts["preamble"])
            self._kernel = sw.ReductionKernel(
                self.dtype_out, map_expr=self._map_expr, arguments=self._declarations, name=self._name,
                options=self._options, **{**self._texts, "preamble": preamble},
            )  # fmt: skip
        return self._kernel

    def _contiguous_module(self):
        if self._module is None:
            arguments = ", ".join(argument.declarator() for argument in self.arguments)
            self._module = SourceModule(
                _SOURCE.format(
                    type=dtype_to_ctype(self.dtype_out), arguments=arguments, name=self._name,
                    map_expr=self._map_expr, **self._texts,
                ),
                options=self._options, no_extern_c=True,
            )  # fmt: skip
        return self._module

    def _by_address(self, args, indices, out):
        n, source = len(indices), (*args, indices.start, indices.step)
        kernel = self._module.get_function(f"{self._name}_map")
        while True:
            total = max(-(-n // _ELEMENTS_PER_THREAD), 1)
            target = out if total == 1 else GPUArray((total,), self.dtype_out)
            kernel(target, *source, total, n, block=(_BLOCK, 1, 1), grid=(-(-total // _BLOCK), 1))
            if total == 1:
                return
            source, n = (target,), total
            kernel = self._module.get_function(f"{self._name}_combine")


@context_dependent_memoize
def get_sum_kernel(dtype_out, dtype_in):
    """A ReductionKernel for the sum of one array."""
    return ReductionKernel(dtype_out or dtype_in, "0", "a+b", arguments=[VectorArg(dtype_in, "in")])


@context_dependent_memoize
def get_dot_kernel(dtype_out, dtype_a=None, dtype_b=None):
    """A ReductionKernel for the sum of the products of two arrays."""
    dtype_a = dtype_a or dtype_out
    arguments = [VectorArg(dtype_a, "x"), VectorArg(dtype_b or dtype_a, "y")]
    return ReductionKernel(dtype_out or dtype_a, "0", "a+b", "x[i]*y[i]", arguments)


@context_dependent_memoize
def get_subset_sum_kernel(dtype_out, dtype_subset, dtype_in):
    """A ReductionKernel for the sum of the elements with given indices."""
    arguments = [VectorArg(dtype_subset, "lookup"), VectorArg(dtype_in, "x")]
    return ReductionKernel(dtype_out or dtype_in, "0", "a+b", "x[lookup[i]]", arguments)


@context_dependent_memoize
def get_subset_dot_kernel(dtype_out, dtype_subset, dtype_a=None, dtype_b=None):
    """A ReductionKernel for the sum of the products of the elements with given indices."""
    dtype_a = dtype_a or dtype_out
    arguments = [
        VectorArg(dtype_subset, "lookup"),
        VectorArg(dtype_a, "x"),
        VectorArg(dtype_b or dtype_a, "y"),
    ]
    return ReductionKernel(dtype_out or dtype_a, "0", "a+b", "x[lookup[i]]*y[lookup[i]]", arguments)


def _minmax(what, dtype):
    """(neutral element, expression) of "min" or "max"."""
    dtype = np.dtype(dtype)
    if what not in ("min", "max"):
        raise ValueError(f"what: expected 'min' or 'max', got {what!r}")
    if dtype.kind == "f":
        letter = "f" if dtype.itemsize == 4 else ""
        return ("(1./0)" if what == "min" else "(-1./0)"), f"f{what}{letter}(a, b)"
    if dtype.kind not in "iu":
        raise TypeError(f"dtype: expected an integer or floating dtype, got {dtype}")
    info, sign = np.iinfo(dtype), "<" if what == "min" else ">"
    return str(info.max if what == "min" else info.min), f"a {sign} b ? a : b"


@context_dependent_memoize
def get_minmax_kernel(what, dtype):
    """A ReductionKernel for the smallest ("min") or largest ("max") element."""
    neutral, expression = _minmax(what, dtype)
    return ReductionKernel(dtype, neutral, expression, arguments=[VectorArg(dtype, "in")])


@context_dependent_memoize
def get_subset_minmax_kernel(what, dtype, dtype_subset):
    """As get_minmax_kernel, of the elements with given indices."""
    neutral, expression = _minmax(what, dtype)
    arguments = [VectorArg(dtype_subset, "lookup"), VectorArg(dtype, "x")]
    return ReductionKernel(dtype, neutral, expression, "x[lookup[i]]", arguments)


__getattr__ = module_getattr("pycuda.reduction", __name__)
