# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of the package that are imported on first use, by the module that defines them.

The build writes the type stub `__init__.pyi` from this table and from the imports and annotated
constants of `__init__.py` (scripts/make_stubs.py).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

#: Modules that type checkers know as attributes of the package.
MODULES = """
    doctor driver fft gradient graph kernels linalg memory ops profile random settings sym tensor
    testing typing
"""

_NAMES = {
    "_frameworks.jax_op": "jax_op",
    "_frameworks.torch_op": "torch_op",
    "_frameworks.tvm_ffi_op": "TvmFfiOp tvm_ffi_op",
    "_numpy.array_api": """
        __array_namespace_info__ asanyarray astype byte cdouble csingle double finfo half iinfo int_
        intc intp isdtype long longlong ndarray short single ubyte uint uintc uintp ulong ulonglong
        ushort
    """,
    "_numpy.array_methods": "rebuild_array",
    # Functions that are borrowed from NumPy and CuPy.
    "_numpy.borrowed": """
        apply_along_axis apply_over_axes argpartition argsort array2string array_equiv
        array_repr array_str asfortranarray average bartlett bincount bitwise_count blackman
        block c_ common_type complexfloating convolve corrcoef correlate cov cross
        diag_indices_from digitize ediff1d errstate euler_gamma explain_function fix
        floating frombuffer fromfile fromfunction fromiter fromstring gcd generic genfromtxt
        geomspace get_printoptions geterr hamming hanning histogram histogram2d
        histogram_bin_edges histogramdd i0 identity inexact integer interp intersect1d
        iscomplex isfortran isin isneginf isposinf isreal isscalar issubdtype iterable
        kaiser kron lcm lexsort load loadtxt logspace median min_scalar_type nan_to_num
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
        nanpercentile nanprod nanquantile nanstd nanvar ndenumerate ndindex number packbits
        partition percentile piecewise poly polyadd polyder polydiv polyfit polyint polymul
        polysub polyval printoptions quantile r_ real_if_close require roots save savetxt
        savez savez_compressed set_printoptions setdiff1d seterr setxor1d shares_memory
        signedinteger sinc sort sort_complex spacing trapezoid trim_zeros union1d unique
        unique_all unique_counts unique_inverse unique_values unpackbits unsignedinteger
        unwrap vander vectorize
    """,
    "_numpy.einsum": "einsum",
    "_numpy.elementwise": """
        allclose angle around array_equal clip divmod frexp imag isclose ldexp log_softmax modf real
        round softmax where
    """,
    "_numpy.indexing": """
        choose extract index_exp indices ix_ meshgrid mgrid ogrid place putmask ravel_multi_index s_ select
        unravel_index
    """,
    "_numpy.join": """
        append array_split column_stack concat delete dsplit dstack hsplit hstack insert pad resize
        roll split tile unstack vsplit vstack
    """,
    "_numpy.linalg": """
        diag diag_indices diagflat diagonal fill_diagonal outer tensordot trace tri tril
        tril_indices tril_indices_from triu triu_indices triu_indices_from
    """,
    "_numpy.lines": "cumulative_prod cumulative_sum diff searchsorted",
    "_numpy.shape": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes copy expand_dims flip fliplr
        flipud iscomplexobj isrealobj lib matrix_transpose moveaxis ndim permute_dims ravel rollaxis rot90
        shape size squeeze swapaxes transpose
    """,
    "driver._textures": "Surface Texture",
    "graph": "In Mode Op Out clone contiguous function kernel_op shared using",
    "kernels._bundle": "Bundle compile",
    "kernels._host_library": "HostLibrary",
    "kernels._tuning": "benchmark",
    "kernels._raw_kernel": "RawKernel RawModule asnumpy get_array_module",
    "kernels._user_kernels": """
        ElementwiseKernel ExclusiveScanKernel InclusiveScanKernel ReductionKernel ScanKernel
    """,
    "kernels._cu_file": "wrap_cu",
    "ops": "load_ops",
}

#: Names that other array libraries have in their namespace, and what there is instead.
_INSTEAD = {
    "cuda": "sw.device, sw.Stream, sw.Event, and sw.driver for calls of the driver",
    "cupyx": "sw.add.at for scatter_add, and sw.to_cupy(a) for its other functions",
    "fuse": "sw.function(inputs, outputs), which fuses elementwise operations",
    "get_default_memory_pool": "sw.memory.pool",
    "memoize": "functools.cache",
    "rsqrt": "1 / sw.sqrt(x)",
    "scatter_add": "sw.add.at(a, indices, values)",
    "scatter_max": "sw.maximum.at(a, indices, values)",
    "scatter_min": "sw.minimum.at(a, indices, values)",
    "Tensor": "sw.Array",
    "jit": "sw.function(inputs, outputs), or sw.jax_op and sw.torch_op inside those libraries",
}
_SEARCHED = ("graph", "linalg", "random", "tensor")

#: Name -> module.
MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def instead_of(name: str) -> str:
    """The end of an error message, "; use ...", for a name that the package does not have, but a
    module of it, or under another name; "" for others."""
    if name.startswith("_"):
        return ""
    found = [f"sw.{m}.{name}" for m in _SEARCHED if hasattr(import_module(f"spanwise.{m}"), name)]
    remedy = _INSTEAD.get(name) or " or ".join(found)
    if not remedy and hasattr(import_module("numpy"), name):
        remedy = f"numpy.{name}, which takes Spanwise arrays on the CPU"
    return remedy and f"; use {remedy}"


class _NotAFunction(ModuleType):
    def __call__(self, *arguments: object, **named: object) -> None:
        raise TypeError(f"{self.__name__} is a module; {self._remedy}")


class _Function(ModuleType):
    """A module with the name of a function of NumPy's, which a call of it is."""

    def __call__(self, *arguments: object, **named: object) -> object:
        borrowed = import_module("spanwise._numpy.borrowed").borrowed
        return borrowed(self.__name__.rpartition(".")[2])(*arguments, **named)


def call_numpys_function(module: str) -> None:
    """Makes a call of `module` one of NumPy's function with its name."""
    sys.modules[module].__class__ = _Function


def explain_call(module: str, remedy: str) -> None:
    """Makes a call of `module`, which has the name of a function elsewhere, a TypeError with the
    `remedy`."""
    sys.modules[module].__class__ = _NotAFunction
    sys.modules[module]._remedy = remedy
