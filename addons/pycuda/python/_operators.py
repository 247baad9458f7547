# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparisons of GPUArray, by spanwise's operators."""

import operator
from functools import partial

import numpy as np

import spanwise as sw

from ._memory import on_stream


def _operand(x):
    """`x` as an operand of a spanwise.Array; None for other types than GPUArray and numbers."""
    if isinstance(x, Operators):
        return x.array
    if np.isscalar(x) and not isinstance(x, str | bytes):
        return x
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else None


def _binary(function, reflected=False, is_comparison=False):
    def method(self, other):
        value = _operand(other)
        if value is None:
            return NotImplemented
        args = (value, self.array) if reflected else (self.array, value)
        result = sw.asarray(function(*args))
        if is_comparison:
            dtypes = [x.dtype for x in (self, other) if isinstance(x, Operators)]
            result = result.astype(np.result_type(*dtypes))
        return self.of(result, self)

    return method


_comparison = partial(_binary, is_comparison=True)


def _in_place(function):
    def method(self, other):
        value = _operand(other)
        if value is None:
            return NotImplemented
        self.array[...] = sw.asarray(function(self.array, value)).astype(self.dtype)
        return self

    return method


class Operators:
    """Results are in the array's own dtype for comparisons, as PyCUDA's, and follow NumPy's rules
    otherwise. In-place operators convert to the dtype of the array."""

    __array_priority__ = 100
    __array_ufunc__ = None
    __hash__ = None

    __add__, __radd__ = _binary(operator.add), _binary(operator.add, True)
    __sub__, __rsub__ = _binary(operator.sub), _binary(operator.sub, True)
    __mul__, __rmul__ = _binary(operator.mul), _binary(operator.mul, True)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _binary(operator.truediv, True)
    __pow__, __rpow__ = _binary(operator.pow), _binary(operator.pow, True)
    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __ipow__ = _in_place(operator.pow)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __le__, __ge__ = _comparison(operator.le), _comparison(operator.ge)
    __lt__, __gt__ = _comparison(operator.lt), _comparison(operator.gt)

    def __pos__(self):
        return self

    def __neg__(self):
        return self.of(-self.array, self)

    def __abs__(self):
        return self.of(sw.abs(self.array), self)

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        """``selffac * self + otherfac * other``, written to `out` if it is given."""
        with on_stream(stream):
            return self._out_or_result(selffac * self.array + otherfac * other.array, out)

    def _out_or_result(self, result, out):
        if out is None:
            return self.of(result, self)
        out.array[...] = result.astype(out.dtype)
        return out

    def reverse(self, stream=None):
        """A new array with the elements in reverse order, taken as one axis."""
        with on_stream(stream):
            reversed_ = self.ravel().array[::-1].copy()
        return self.of(reversed_, self).reshape(self.shape)

    def astype(self, dtype, stream=None):
        """A new array with the elements converted to `dtype`."""
        with on_stream(stream):
            return self.of(self.array.astype(np.dtype(dtype)), self)

    def any(self, stream=None, allocator=None):
        """Whether an element is not 0, as an array without axes."""
        with on_stream(stream):
            return self._allocated(sw.any(self.array), self, allocator)

    def all(self, stream=None, allocator=None):
        """Whether no element is 0, as an array without axes."""
        with on_stream(stream):
            return self._allocated(sw.all(self.array), self, allocator)

    @property
    def real(self):
        """A new array of the real parts; the array itself if it is not complex."""
        return self.of(self.array.real.copy(), self) if self.dtype.kind == "c" else self

    @property
    def imag(self):
        """A new array of the imaginary parts; zeros if it is not complex."""
        if self.dtype.kind == "c":
            return self.of(self.array.imag.copy(), self)
        return self.of(sw.zeros_like(self.array), self)

    def conj(self, out=None):
        """The complex conjugate, written to `out` if it is given; the array itself if it is real."""
        if self.dtype.kind != "c":
            return self
        return self._out_or_result(sw.conj(self.array), out)

    conjugate = conj
