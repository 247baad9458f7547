# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the stand-in for CUDAMat, with the rules of the real one.

Methods write to their operand unless a target is given, scalars are int or float, shapes must match
except in functions of row and column vectors, and transposed matrices are for dot only.
"""

import numpy as np


class CUDAMatException(Exception):
    pass


def _store(target, values):
    """Writes the values to the target, which it returns."""
    values = np.asarray(values, np.float32)
    if target.shape != values.shape:
        raise CUDAMatException("Incompatible matrix dimensions.")
    target._memory()[...] = values
    return target


def _binary(function):
    def method(self, val, target=None):
        if isinstance(val, int | float):
            other = np.float32(val)
        elif not hasattr(val, "_memory"):
            raise ValueError("Value must be of type CUDAMatrix, int, or float.")
        elif val.shape != self.shape:
            raise CUDAMatException("Incompatible matrix dimensions.")
        else:
            other = val._memory()
        with np.errstate(all="ignore"):
            return _store(target or self, function(self._memory(), other))

    return method


def _with_vector(function, axis):
    """An operation with a row (axis 0) or a column (axis 1)."""

    def method(self, vec, target=None):
        if vec.shape[axis] != 1 or vec.shape[1 - axis] != self.shape[1 - axis]:
            raise CUDAMatException("Incompatible matrix dimensions.")
        with np.errstate(all="ignore"):
            return _store(target or self, function(self._memory(), vec._memory()))

    return method


def _by_axis(function):
    def method(self, axis, target=None):
        values = function(self._memory(), axis=axis, keepdims=True)
        return _store(target or self._empty(values.shape), values)

    return method


class Arithmetic:
    """The methods of CUDAMatrix; it has `shape`, `_memory` and `_empty`."""

    add, subtract = _binary(np.add), _binary(np.subtract)
    mult, divide = _binary(np.multiply), _binary(np.divide)
    less_than, greater_than = _binary(np.less), _binary(np.greater)
    equals = _binary(np.equal)
    minimum, maximum = _binary(np.fmin), _binary(np.fmax)
    add_row_vec, add_col_vec = _with_vector(np.add, 0), _with_vector(np.add, 1)
    mult_by_row, mult_by_col = _with_vector(np.multiply, 0), _with_vector(np.multiply, 1)
    div_by_row, div_by_col = _with_vector(np.divide, 0), _with_vector(np.divide, 1)
    sum, mean = _by_axis(np.sum), _by_axis(np.mean)
    min, max = _by_axis(np.min), _by_axis(np.max)

    def reciprocal(self, target=None):
        return _unary(np.reciprocal)(self, target)

    def sign(self, target=None):
        return _store(target or self._empty(self.shape), np.sign(self._memory()))

    def transpose(self, target=None):
        return _store(target or self._empty(self.shape[::-1]), self._memory().T)


def _unary(function):
    def call(mat, target=None):
        with np.errstate(all="ignore"):
            return _store(target or mat, function(mat._memory()))

    return call


exp, log, sqrt, tanh, abs = map(_unary, (np.exp, np.log, np.sqrt, np.tanh, np.abs))
sigmoid = _unary(lambda x: 1 / (1 + np.exp(-x)))
log_1_plus_exp = _unary(lambda x: np.logaddexp(0, x))


def pow(mat, p, target=None):
    return _binary(np.power)(mat, p, target)


def where(condition_mat, if_mat, else_mat, target=None):
    values = np.where(condition_mat._memory() != 0, if_mat._memory(), else_mat._memory())
    return _store(target or condition_mat, values)
