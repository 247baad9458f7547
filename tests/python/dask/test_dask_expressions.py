# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""dask.array computes with Spanwise chunks what it computes with NumPy chunks."""

import numpy as np
import pytest

import spanwise as sw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from support.dask_expressions import EXPRESSIONS, ON_HOST, operands  # noqa: E402

import spanwise.dask  # noqa: E402


@pytest.fixture(scope="module")
def numpy_operands():
    return operands(lambda x: x)


@pytest.fixture(scope="module")
def our_operands():
    return operands(lambda x: x.to_backend("spanwise"))


def computed(expression, names):
    array = eval(expression, {"da": da, "np": np, **names})
    return array.compute(scheduler="sync")


def test_there_are_enough_expressions():
    assert len(set(EXPRESSIONS + ON_HOST)) >= 170


@pytest.mark.filterwarnings("ignore")  # of Dask and NumPy, which both computations give
@pytest.mark.parametrize("expression", EXPRESSIONS + ON_HOST)
def test_expression_is_that_of_numpy(expression, numpy_operands, our_operands):
    expected = np.asarray(computed(expression, numpy_operands))
    result = computed(expression, our_operands)
    assert type(result) is (sw.Array if expression in EXPRESSIONS else np.ndarray)
    if type(result) is sw.Array:
        assert result.device == sw.device()
        result = result.numpy()
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
