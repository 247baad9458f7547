# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""dask.array computes with Spanwise chunks what it computes with NumPy chunks."""

import numpy as np
import pytest

import spanwise as sw
from spanwise._numpy import array_protocols, borrowed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from addons.dask.expressions import (  # noqa: E402
    EXPRESSIONS,
    NUMPY_ON_CPU,
    ON_HOST,
    operands,
)

import spanwise.dask  # noqa: E402

on_gpu = sw.device().kind != "cpu"


@pytest.fixture(scope="module")
def numpy_operands():
    return operands(lambda x: x)


@pytest.fixture(scope="module")
def our_operands():
    return operands(lambda x: x.to_backend("spanwise"))


def computed(expression, names):
    array = eval(expression, {"da": da, "np": np, **names})
    return array.compute(scheduler="sync")


#: Dask calls SciPy, whose factors are on the host.
FACTORS = [expression for expression in ON_HOST if "linalg" in expression]


def is_error_on_gpu(expression):
    """The functions that cannot read chunks of a GPU; searchsorted copies them to a sorted array of NumPy."""
    on_host = expression in NUMPY_ON_CPU or expression in FACTORS or "percentile" in expression
    return on_host and "searchsorted" not in expression


def test_there_are_enough_expressions():
    assert len(set(EXPRESSIONS)) >= 114 and len({*EXPRESSIONS, *NUMPY_ON_CPU, *ON_HOST}) >= 170


@pytest.mark.filterwarnings("ignore")  # Dask and NumPy warn alike for both kinds of chunks
@pytest.mark.parametrize("expression", EXPRESSIONS + NUMPY_ON_CPU + ON_HOST)
def test_expression_matches_numpy(expression, numpy_operands, our_operands):
    if on_gpu and is_error_on_gpu(expression):
        pytest.skip("an error on a GPU")
    expected = np.asarray(computed(expression, numpy_operands))
    result = computed(expression, our_operands)
    assert type(result) is (np.ndarray if expression in ON_HOST else sw.Array)
    if type(result) is sw.Array:
        # Positions in a sorted array of NumPy are on the host.
        assert result.device == ("cpu" if "searchsorted" in expression else sw.device())
        result = result.numpy()
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture
def without_numpy(monkeypatch):
    """NumPy's functions refuse arrays, as they do arrays on a GPU."""

    def refuse(name, function, args, kwargs, reason):
        raise TypeError(f"numpy.{name}: {reason}, and NumPy's cannot read the memory of cuda:0")

    if not on_gpu:
        for module in (array_protocols, borrowed):
            monkeypatch.setattr(module, "on_host", refuse)
        monkeypatch.setattr(borrowed, "_HOST", None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [*NUMPY_ON_CPU, "da.percentile(v, [25, 50, 75])"])
def test_functions_of_numpy_are_clear_errors_on_a_gpu(
    expression, numpy_operands, our_operands, without_numpy
):
    """Dask raises some of the errors again as ValueError with the same text. On a GPU Spanwise or CuPy
    compute what they have; Dask may join their results with one of SciPy on the host."""
    if on_gpu and not is_error_on_gpu(expression):
        pytest.skip("computed on a GPU")
    if on_gpu:
        try:
            result = computed(expression, our_operands)
        except (TypeError, ValueError, NotImplementedError, sw.DeviceError) as error:
            pytest.skip(f"no library has it: {error}")
        result = result.numpy() if isinstance(result, sw.Array) else np.asarray(result)
        expected = np.asarray(computed(expression, numpy_operands))
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
        return
    if "searchsorted" in expression:
        pytest.skip("Dask computes it by functions of Spanwise")
    with pytest.raises((TypeError, ValueError), match=r"numpy\.[\w.]+: .*cannot read the memory"):
        computed(expression, our_operands)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", FACTORS)
def test_factors_of_scipy_are_device_errors_on_a_gpu(expression, our_operands):
    if not on_gpu:
        pytest.skip("for a GPU")
    with pytest.raises(sw.DeviceError, match="operands are on cpu and on cuda:0"):
        computed(expression, our_operands)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_other_functions_do_not_use_numpy(expression, our_operands, without_numpy):
    assert type(computed(expression, our_operands)) is sw.Array
