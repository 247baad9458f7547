# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of symbolic arrays: each names the operation and the remedy."""

import re

import numpy as np
import pytest

import spanwise as sw
from spanwise import sym


def numbers(*shape):
    return np.random.default_rng(7).uniform(-2, 2, shape)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.linalg.svd(x), "numpy.linalg.svd"),
        (lambda x: np.sort(x), "numpy.sort"),
        (lambda x: np.fft.fft(x), "numpy.fft.fft"),
        (lambda x: np.frexp(x), "numpy.frexp"),
        (lambda x: np.multiply.outer(x, x), "numpy.multiply.outer"),
    ],
)
def test_unknown_functions_are_errors_that_name_them(call, name):
    with pytest.raises(
        TypeError, match=rf"{re.escape(name)} is not among.*{re.escape(name)}\(x\.asN"
    ):
        call(sym.array(numbers(2, 2)))


def test_errors_name_the_remedy():
    x = sym.array(numbers(2, 3))
    for call, message in (
        (lambda: np.asarray(x), r"no values until .* use asNumpy\(\) or asCUDA\(\)"),
        (lambda: float(x.sum()), "no values until"),
        (lambda: bool(x > 0), r"use sym\.where"),
        (lambda: x.__setitem__(0, 1), "cannot be changed.*sym.where"),
        (lambda: x[x > 0], "depends on values.*sym.where.*flatnonzero"),
        (lambda: np.exp(x, out=np.zeros((2, 3))), "out= needs memory"),
        (lambda: hash(x), "unhashable"),
        (lambda: len(x.sum()), "without axes"),
        (lambda: x + object(), "expected an array, a number"),
        (lambda: sym.array(sw.tensor.dmatrix("v")), "a variable has no value"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(sw.Error, match=r"\b3\b.*\b2\b|\b2\b.*\b3\b"):
        np.dot(x, x)
    with pytest.raises(AttributeError):
        sym.no_such_function  # noqa: B018


def test_check_raises_the_largest_difference(monkeypatch):
    x = sym.array(numbers(3, 4)) * 2
    assert sym.check(x) == {"cuda": 0.0}
    monkeypatch.setattr(
        sym.SymArray, "asCUDA", lambda self, device=None: sw.array(self.asNumpy() + 1)
    )
    with pytest.raises(
        AssertionError, match=r"cuda differs from NumPy by 0\.\d+; expected at most"
    ):
        sym.check(x)
