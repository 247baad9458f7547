# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays, kernels and graphs that share memory with other CUDA array libraries in one process.

Importing it neither imports another array library nor calls CUDA. The namespace holds all public
names of the extension module ``_core``; the other modules are imported on first use
(``sw.driver``).
"""

from __future__ import annotations

from importlib import import_module as _import_module

from . import _gil, _wheels
from ._config import config as config
from ._core import *  # noqa: F403  (all public names of the extension module)
from ._core import __version__ as __version__

#: The version of the array API standard (data-apis.org/array-api) that this namespace follows.
__array_api_version__ = "2024.12"

# Stands in for typing.TYPE_CHECKING, which type checkers recognise by its name. Modules imported by
# `import spanwise` do not import typing or contextlib: they take longer to load than the package.
TYPE_CHECKING = False

newaxis = None
e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")

_gil.require_gil()
_wheels.tell_where_cuda_is()
_wheels.tell_where_blas_is()


if TYPE_CHECKING:
    # For type checkers, which cannot follow __getattr__; at run time __getattr__ imports these.
    from . import doctor as doctor
    from . import driver as driver
    from . import linalg as linalg
    from . import memory as memory
    from . import ops as ops
    from . import profile as profile
    from . import random as random
    from . import settings as settings
    from . import tensor as tensor
    from ._numpy.array_pickle import rebuild_array as rebuild_array
    from ._numpy.compare import allclose as allclose
    from ._numpy.compare import array_equal as array_equal
    from ._numpy.compare import isclose as isclose
    from ._numpy.dtypes import astype as astype
    from ._numpy.dtypes import finfo as finfo
    from ._numpy.dtypes import iinfo as iinfo
    from ._numpy.dtypes import isdtype as isdtype
    from ._numpy.einsum import einsum as einsum
    from ._numpy.elementwise import angle as angle
    from ._numpy.elementwise import around as around
    from ._numpy.elementwise import clip as clip
    from ._numpy.elementwise import divmod as divmod
    from ._numpy.elementwise import imag as imag
    from ._numpy.elementwise import modf as modf
    from ._numpy.elementwise import real as real
    from ._numpy.elementwise import round as round
    from ._numpy.elementwise import where as where
    from ._numpy.exponents import frexp as frexp
    from ._numpy.exponents import ldexp as ldexp
    from ._host_library import HostLibrary as HostLibrary
    from ._numpy.indexing import choose as choose
    from ._numpy.indexing import diag as diag
    from ._numpy.indexing import diag_indices as diag_indices
    from ._numpy.indexing import diagflat as diagflat
    from ._numpy.indexing import diagonal as diagonal
    from ._numpy.indexing import extract as extract
    from ._numpy.indexing import fill_diagonal as fill_diagonal
    from ._numpy.indexing import indices as indices
    from ._numpy.indexing import ix_ as ix_
    from ._numpy.indexing import meshgrid as meshgrid
    from ._numpy.indexing import mgrid as mgrid
    from ._numpy.indexing import ogrid as ogrid
    from ._numpy.indexing import place as place
    from ._numpy.indexing import putmask as putmask
    from ._numpy.indexing import ravel_multi_index as ravel_multi_index
    from ._numpy.indexing import select as select
    from ._numpy.indexing import tri as tri
    from ._numpy.indexing import tril as tril
    from ._numpy.indexing import tril_indices as tril_indices
    from ._numpy.indexing import tril_indices_from as tril_indices_from
    from ._numpy.indexing import triu as triu
    from ._numpy.indexing import triu_indices as triu_indices
    from ._numpy.indexing import triu_indices_from as triu_indices_from
    from ._numpy.indexing import unravel_index as unravel_index
    from ._numpy.join import append as append
    from ._numpy.join import array_split as array_split
    from ._numpy.join import column_stack as column_stack
    from ._numpy.join import concat as concat
    from ._numpy.join import delete as delete
    from ._numpy.join import dsplit as dsplit
    from ._numpy.join import dstack as dstack
    from ._numpy.join import hsplit as hsplit
    from ._numpy.join import hstack as hstack
    from ._numpy.join import insert as insert
    from ._numpy.join import split as split
    from ._numpy.join import unstack as unstack
    from ._numpy.join import vsplit as vsplit
    from ._numpy.join import vstack as vstack
    from ._numpy.linalg import outer as outer
    from ._numpy.linalg import tensordot as tensordot
    from ._numpy.linalg import trace as trace
    from ._numpy.lines import cumulative_prod as cumulative_prod
    from ._numpy.lines import cumulative_sum as cumulative_sum
    from ._numpy.lines import diff as diff
    from ._numpy.lines import searchsorted as searchsorted
    from ._numpy.missing import argsort as argsort
    from ._numpy.missing import sort as sort
    from ._numpy.missing import unique_all as unique_all
    from ._numpy.missing import unique_counts as unique_counts
    from ._numpy.missing import unique_inverse as unique_inverse
    from ._numpy.missing import unique_values as unique_values
    from ._numpy.namespace import __array_namespace_info__ as __array_namespace_info__
    from ._numpy.pad import pad as pad
    from ._graph.plugins import load_ops as load_ops
    from ._numpy.shape import atleast_1d as atleast_1d
    from ._numpy.shape import atleast_2d as atleast_2d
    from ._numpy.shape import atleast_3d as atleast_3d
    from ._numpy.shape import broadcast_arrays as broadcast_arrays
    from ._numpy.shape import broadcast_shapes as broadcast_shapes
    from ._numpy.shape import expand_dims as expand_dims
    from ._numpy.shape import flip as flip
    from ._numpy.shape import fliplr as fliplr
    from ._numpy.shape import flipud as flipud
    from ._numpy.shape import matrix_transpose as matrix_transpose
    from ._numpy.shape import moveaxis as moveaxis
    from ._numpy.shape import permute_dims as permute_dims
    from ._numpy.shape import ravel as ravel
    from ._numpy.shape import resize as resize
    from ._numpy.shape import roll as roll
    from ._numpy.shape import rollaxis as rollaxis
    from ._numpy.shape import rot90 as rot90
    from ._numpy.shape import squeeze as squeeze
    from ._numpy.shape import swapaxes as swapaxes
    from ._numpy.shape import tile as tile
    from ._numpy.shape import transpose as transpose
    from ._numpy.softmax import log_softmax as log_softmax
    from ._numpy.softmax import softmax as softmax
    from ._driver.textures import Surface as Surface
    from ._driver.textures import Texture as Texture
    from ._user_kernels import ElementwiseKernel as ElementwiseKernel
    from ._user_kernels import ExclusiveScanKernel as ExclusiveScanKernel
    from ._user_kernels import InclusiveScanKernel as InclusiveScanKernel
    from ._user_kernels import ReductionKernel as ReductionKernel
    from ._user_kernels import ScanKernel as ScanKernel
    from ._wrap_cu import wrap_cu as wrap_cu
    from .graph import In as In
    from .graph import Mode as Mode
    from .graph import Op as Op
    from .graph import Out as Out
    from .graph import clone as clone
    from .graph import contiguous as contiguous
    from .graph import function as function
    from .graph import kernel_op as kernel_op
    from .graph import shared as shared
    from .graph import using as using

# Module -> the public names that __getattr__ imports from it.
_NAMES = {
    "graph": "In Mode Op Out clone contiguous function kernel_op shared using",
    "_numpy.shape": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes expand_dims flip
        fliplr flipud matrix_transpose moveaxis permute_dims ravel resize roll rollaxis rot90
        squeeze swapaxes tile transpose
    """,
    "_numpy.join": """
        append array_split column_stack concat delete dsplit dstack hsplit hstack insert split
        unstack vsplit vstack
    """,
    "_numpy.indexing": """
        choose diag diag_indices diagflat diagonal extract fill_diagonal indices
        ix_ meshgrid mgrid ogrid place putmask ravel_multi_index select tri tril tril_indices
        tril_indices_from triu triu_indices triu_indices_from unravel_index
    """,
    "_numpy.linalg": "outer tensordot trace",
    "_numpy.einsum": "einsum",
    "_numpy.pad": "pad",
    "_numpy.array_pickle": "rebuild_array",
    "_numpy.elementwise": "angle around clip divmod imag modf real round where",
    "_numpy.exponents": "frexp ldexp",
    "_numpy.compare": "allclose array_equal isclose",
    "_numpy.dtypes": "astype finfo iinfo isdtype",
    "_numpy.lines": "cumulative_prod cumulative_sum diff searchsorted",
    "_numpy.missing": "argsort sort unique_all unique_counts unique_inverse unique_values",
    "_numpy.namespace": "__array_namespace_info__",
    "_numpy.softmax": "log_softmax softmax",
    "_user_kernels": """
        ElementwiseKernel ExclusiveScanKernel InclusiveScanKernel ReductionKernel ScanKernel
    """,
    "_host_library": "HostLibrary",
    "_graph.plugins": "load_ops",
    "_driver.textures": "Surface Texture",
    "_wrap_cu": "wrap_cu",
}
_ELSEWHERE = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:  # with __getattr__, type checkers would accept every misspelt name

    def __getattr__(name):
        """Imports ``spanwise.<name>``, or the module that defines `name`, on first use."""
        if name in _ELSEWHERE:
            value = getattr(_import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
            globals()[name] = value
            return value
        from importlib.util import find_spec

        found = None if name.startswith("_") else find_spec(f"{__name__}.{name}")
        if found is not None and found.origin is not None:  # namespace packages have no origin
            return _import_module(f"{__name__}.{name}")
        if name == "fft":
            from ._numpy.missing import EXTENSIONS

            raise AttributeError(EXTENSIONS[name])
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_ELSEWHERE})


del TYPE_CHECKING  # not part of the public namespace
