# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements have a unit, as astropy's, unyt's and pint's: they compute operators
themselves, and their memory can be read."""

import operator

import numpy as np


class Metres(np.ndarray):
    """A subclass of ndarray, which computes by __array_ufunc__: adds metres to metres only."""

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        has_unit = [isinstance(x, Metres) for x in inputs]
        if ufunc in (np.add, np.subtract, np.less, np.greater) and not all(has_unit):
            raise TypeError("metres and numbers")
        if out is not None:
            raise TypeError("metres in an array without unit")
        values = [x.view(np.ndarray) if isinstance(x, Metres) else x for x in inputs]
        result = super().__array_ufunc__(ufunc, method, *values, **options)
        return result if result is NotImplemented else np.asarray(result).view(Metres)


class Wrapped:
    """A class of its own around any array `values`, which computes by reflected operators."""

    def __init__(self, values):
        self.values = values

    def _times(self, other):
        return Wrapped(operator.mul(self.values, other))

    def _refuse(self, other):
        raise TypeError("metres and numbers")

    __mul__ = __rmul__ = _times
    __radd__ = __rsub__ = __lt__ = __gt__ = __eq__ = __ne__ = __rmatmul__ = __rpow__ = _refuse
    __rtruediv__ = __rfloordiv__ = __rmod__ = __rdivmod__ = _refuse
    __hash__ = None


class ByUfunc(Wrapped):
    """Its memory is read by __array_interface__; it has an __array_ufunc__."""

    @property
    def __array_interface__(self):
        return self.values.__array_interface__

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ("ufunc", ufunc.__name__)


class ByPriority(Wrapped):
    """Its memory is read by __dlpack__; it has an __array_priority__."""

    __array_priority__ = 10

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()
