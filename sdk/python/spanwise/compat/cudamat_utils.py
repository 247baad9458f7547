# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.cudamat_utils``: conversion of matrices to and from CUDAMat without a copy.

Theano passed the memory of a C-ordered matrix to CUDAMat, which is column-major, so that element
(i, j) had another position; programs undo that with ``m.asarray().T.reshape(shape)``. These
functions do the same by default. With ``theano_layout=False`` elements keep their positions, as in
``spanwise.to_cudamat``.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from . import _our_array as our_array

__all__ = ["cudamat_to_cudandarray", "cudandarray_to_cudamat"]


def cudandarray_to_cudamat(x: Any, copyif: bool = False, *, theano_layout: bool = True) -> Any:
    """A CUDAMatrix over the memory of ``x``. ``copyif`` allows a copy if the memory
    cannot be shared: if ``x`` is not in C order, or without ``theano_layout`` not in Fortran order.
    Raises TypeError if ``x`` is no spanwise.Array."""
    array = our_array(x, "cudandarray_to_cudamat", TypeError)
    return _core.to_cudamat(array, copyif, theano_layout=theano_layout)


def cudamat_to_cudandarray(
    x: Any, copyif: bool = False, *, theano_layout: bool = True
) -> _core.Array:
    """An array over the memory of the CUDAMatrix ``x``. ``copyif`` allows a copy if that memory cannot
    be shared."""
    return _core.from_cudamat(x, copyif, theano_layout=theano_layout)
