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
    doctor driver gradient graph kernels linalg memory ops profile random settings sym tensor
"""

_NAMES = {
    "_frameworks.jax_op": "jax_op",
    "_frameworks.torch_op": "torch_op",
    "_numpy.array_api": """
        __array_namespace_info__ argsort astype finfo iinfo isdtype sort unique_all unique_counts
        unique_inverse unique_values
    """,
    "_numpy.array_methods": "rebuild_array",
    "_numpy.einsum": "einsum",
    "_numpy.elementwise": """
        allclose angle around array_equal clip divmod frexp imag isclose ldexp log_softmax modf real
        round softmax where
    """,
    "_numpy.indexing": """
        choose extract indices ix_ meshgrid mgrid ogrid place putmask ravel_multi_index select
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
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes expand_dims flip fliplr
        flipud matrix_transpose moveaxis permute_dims ravel rollaxis rot90 squeeze swapaxes
        transpose
    """,
    "driver._textures": "Surface Texture",
    "graph": "In Mode Op Out clone contiguous function kernel_op shared using",
    "kernels._host_library": "HostLibrary",
    "kernels._raw_kernel": "RawKernel RawModule asnumpy",
    "kernels._user_kernels": """
        ElementwiseKernel ExclusiveScanKernel InclusiveScanKernel ReductionKernel ScanKernel
    """,
    "kernels._cu_file": "wrap_cu",
    "ops": "load_ops",
}

#: Names that other array libraries have in their namespace, and what there is instead.
_INSTEAD = {
    "Tensor": "sw.Array",
    "jit": "sw.function(inputs, outputs), or sw.jax_op and sw.torch_op inside those libraries",
    "ndarray": "sw.Array",
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
    return remedy and f"; use {remedy}"


class _NotAFunction(ModuleType):
    def __call__(self, *arguments: object, **named: object) -> None:
        raise TypeError(f"{self.__name__} is a module; {self._remedy}")


def explain_call(module: str, remedy: str) -> None:
    """Makes a call of `module`, which has the name of a function elsewhere, a TypeError with the
    `remedy`."""
    sys.modules[module].__class__ = _NotAFunction
    sys.modules[module]._remedy = remedy
