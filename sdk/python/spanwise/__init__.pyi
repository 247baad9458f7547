# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of the package, for type checkers and for `__init__.py`, which reads the
relative imports below and imports each name on its first use."""

from . import (
    doctor as doctor,
    driver as driver,
    gradient as gradient,
    graph as graph,
    kernels as kernels,
    linalg as linalg,
    memory as memory,
    ops as ops,
    profile as profile,
    random as random,
    settings as settings,
    sym as sym,
    tensor as tensor,
)
from ._config import config as config
from ._core import *  # noqa: F403
from ._core import __version__ as __version__
from ._driver.textures import Surface as Surface, Texture as Texture
from ._frameworks.jax_op import jax_op as jax_op
from ._frameworks.torch_op import torch_op as torch_op
from ._graph.plugins import load_ops as load_ops
from ._kernels.host_library import HostLibrary as HostLibrary
from ._kernels.raw_kernel import RawKernel as RawKernel, RawModule as RawModule, asnumpy as asnumpy
from ._kernels.user_kernels import (
    ElementwiseKernel as ElementwiseKernel,
    ExclusiveScanKernel as ExclusiveScanKernel,
    InclusiveScanKernel as InclusiveScanKernel,
    ReductionKernel as ReductionKernel,
    ScanKernel as ScanKernel,
)
from ._kernels.wrap_cu import wrap_cu as wrap_cu
from ._numpy.array_pickle import rebuild_array as rebuild_array
from ._numpy.compare import allclose as allclose, array_equal as array_equal, isclose as isclose
from ._numpy.dtypes import astype as astype, finfo as finfo, iinfo as iinfo, isdtype as isdtype
from ._numpy.einsum import einsum as einsum
from ._numpy.elementwise import (
    angle as angle,
    around as around,
    clip as clip,
    divmod as divmod,
    imag as imag,
    modf as modf,
    real as real,
    round as round,
    where as where,
)
from ._numpy.exponents import frexp as frexp, ldexp as ldexp
from ._numpy.indexing import (
    indices as indices,
    ix_ as ix_,
    meshgrid as meshgrid,
    mgrid as mgrid,
    ogrid as ogrid,
    ravel_multi_index as ravel_multi_index,
    unravel_index as unravel_index,
)
from ._numpy.join import (
    append as append,
    array_split as array_split,
    column_stack as column_stack,
    concat as concat,
    delete as delete,
    dsplit as dsplit,
    dstack as dstack,
    hsplit as hsplit,
    hstack as hstack,
    insert as insert,
    split as split,
    unstack as unstack,
    vsplit as vsplit,
    vstack as vstack,
)
from ._numpy.linalg import outer as outer, tensordot as tensordot, trace as trace
from ._numpy.lines import (
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    diff as diff,
    searchsorted as searchsorted,
)
from ._numpy.namespace import __array_namespace_info__ as __array_namespace_info__
from ._numpy.pad import pad as pad
from ._numpy.selection import (
    choose as choose,
    extract as extract,
    place as place,
    putmask as putmask,
    select as select,
)
from ._numpy.shape import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    broadcast_arrays as broadcast_arrays,
    broadcast_shapes as broadcast_shapes,
    expand_dims as expand_dims,
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
    matrix_transpose as matrix_transpose,
    moveaxis as moveaxis,
    permute_dims as permute_dims,
    ravel as ravel,
    rollaxis as rollaxis,
    rot90 as rot90,
    squeeze as squeeze,
    swapaxes as swapaxes,
    transpose as transpose,
)
from ._numpy.softmax import log_softmax as log_softmax, softmax as softmax
from ._numpy.tiling import resize as resize, roll as roll, tile as tile
from ._numpy.triangles import (
    diag as diag,
    diag_indices as diag_indices,
    diagflat as diagflat,
    diagonal as diagonal,
    fill_diagonal as fill_diagonal,
    tri as tri,
    tril as tril,
    tril_indices as tril_indices,
    tril_indices_from as tril_indices_from,
    triu as triu,
    triu_indices as triu_indices,
    triu_indices_from as triu_indices_from,
)
from ._numpy.unsupported import (
    argsort as argsort,
    sort as sort,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from .graph import (
    In as In,
    Mode as Mode,
    Op as Op,
    Out as Out,
    clone as clone,
    contiguous as contiguous,
    function as function,
    kernel_op as kernel_op,
    shared as shared,
    using as using,
)

__array_api_version__: str
newaxis: None
e: float
pi: float
inf: float
nan: float
