# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.misc.cudamat_utils``: matrices to CUDAMat and back without a copy.

Theano gave CUDAMat the memory of a matrix in C order, which CUDAMat reads by columns; programs
undo that with ``m.asarray().T.reshape(shape)``. So do these functions unless ``theano_layout=False``
asks for the reading in which values stay where they are, as in ``spanwise.to_cudamat``.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from ._array import our_array

__all__ = ["cudamat_to_cudandarray", "cudandarray_to_cudamat"]


def cudandarray_to_cudamat(x: Any, copyif: bool = False, *, theano_layout: bool = True) -> Any:
    """A CUDAMatrix over the memory of ``x``. ``copyif`` allows a copy where ``x`` is not in C order."""
    array = our_array(x, "cudandarray_to_cudamat", TypeError)
    return _core.to_cudamat(array, copyif, theano_layout=theano_layout)


def cudamat_to_cudandarray(
    x: Any, copyif: bool = False, *, theano_layout: bool = True
) -> _core.Array:
    """An array over the memory of the CUDAMatrix ``x``."""
    return _core.from_cudamat(x, copyif, theano_layout=theano_layout)
