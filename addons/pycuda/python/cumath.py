# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.cumath``: functions of each element, for all strides."""

import numpy as np

import spanwise as sw

from ._array import GPUArray, device_array
from ._devices import on_stream
from ._unsupported import module_getattr

_UNARY = {
    "fabs": sw.abs, "ceil": sw.ceil, "floor": sw.floor, "exp": sw.exp, "log": sw.log,
    "log10": sw.log10, "sqrt": sw.sqrt, "sin": sw.sin, "cos": sw.cos, "tan": sw.tan,
    "asin": sw.arcsin, "acos": sw.arccos, "atan": sw.arctan, "sinh": sw.sinh, "cosh": sw.cosh,
    "tanh": sw.tanh,
}  # fmt: skip

__all__ = [*_UNARY, "fmod", "frexp", "ldexp", "modf"]


def _unary(name, function):
    def compute(array, stream_or_out=None, *, out=None, stream=None):
        if isinstance(stream_or_out, GPUArray):
            out = stream_or_out
        elif stream_or_out is not None:
            stream = stream_or_out
        with on_stream(stream):
            if out is None:
                return GPUArray.of(function(device_array(array)), array)
            function(device_array(array), out=device_array(out))
            return out

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = f"{function.__name__} of each element, written to `out` if it is given."
    return compute


globals().update({name: _unary(name, function) for name, function in _UNARY.items()})


def fmod(arg, mod, stream=None):
    """The remainder of arg / mod with the sign of `arg`."""
    with on_stream(stream):
        return GPUArray.of(sw.fmod(device_array(arg), device_array(mod)), arg)


def ldexp(significand, exponent, stream=None):
    """``significand * 2**exponent``; exponents are rounded towards 0."""
    with on_stream(stream):
        whole = device_array(exponent).astype("int32")
        return GPUArray.of(sw.ldexp(device_array(significand), whole), significand)


def frexp(arg, stream=None):
    """(significands, exponents) with ``arg == significand * 2**exponent``, both in the dtype of
    `arg`."""
    with on_stream(stream):
        significands, exponents = sw.frexp(device_array(arg))
        return GPUArray.of(significands, arg), GPUArray.of(
            exponents.astype(np.dtype(arg.dtype)), arg
        )


def modf(arg, stream=None):
    """(fractional parts, integer parts), both with the sign of `arg`."""
    with on_stream(stream):
        fractions, wholes = sw.modf(device_array(arg))
        return GPUArray.of(fractions, arg), GPUArray.of(wholes, arg)


__getattr__ = module_getattr("pycuda.cumath", __name__)
