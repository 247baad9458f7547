# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Gnumpy over CUDAMat or its stand-in: memory management without arithmetic.

It has these properties of the real one (gnumpy 0.2): C order over a flat base whose shape changes
between calls, aliases and owners, and the cache that reuses the bases of freed arrays.
"""

import collections
import math

import cudamat as _cudamat
import numpy as np

_useGpu = "yes"  # noqa: N816
__version__ = "stand-in"
_cmType = _cudamat.CUDAMatrix  # noqa: N816
_cmsForReuse = collections.defaultdict(list)  # noqa: N816


def _init_gpu():
    pass


def _new_cm(size):
    if size == 0:
        return _cudamat.empty((1, 1))
    if _cmsForReuse[size]:
        return _cmsForReuse[size].pop().reshape((size, 1))
    return _cudamat.empty((size, 1))


class garray:  # noqa: N801
    def __init__(self, data, copy=True, ndmin=0):
        # The internal form of a call: base, shape, the array that it is an alias of.
        if type(data) is _cmType:
            self._base, self.shape, alias_of = data, copy, ndmin
        else:
            values = np.asarray(data, np.float32)
            self.shape, alias_of = values.shape, None
            self._base = _new_cm(values.size)
            if values.size:
                self._base.assign(values.reshape(-1, 1))
        self.size = math.prod(self.shape)
        self.ndim = len(self.shape)
        self._is_alias_of = alias_of  # set last: an array without it is not initialised

    def __del__(self):
        if not hasattr(self, "_is_alias_of"):
            return
        if self._is_alias_of is None:
            _cmsForReuse[self.size].append(self._base)
        else:
            assert type(self._is_alias_of).__name__ == "garray"

    def as_numpy_array(self, dtype=np.float64):
        if self.size == 0:
            return np.empty(self.shape, dtype)
        flat = self._base.reshape((self.size, 1)).asarray()
        return flat.reshape(self.shape).astype(dtype)

    def reshape(self, *shape):
        return garray(self._base, shape, self)

    def __getitem__(self, rows):
        width = math.prod(self.shape[1:])
        columns = self._base.reshape((width, self.shape[0])).get_col_slice(rows.start, rows.stop)
        return garray(columns, (rows.stop - rows.start, *self.shape[1:]), self)

    def __iadd__(self, value):
        self._base.add(value)
        return self


def zeros(shape):
    return garray(np.zeros(shape))
