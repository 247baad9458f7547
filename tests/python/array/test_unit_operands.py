# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operands that compute operators themselves, such as quantities with units, are asked first, also
where their memory can be read."""

import operator

import numpy as np
import pytest
from support import cuda_process
from support.units import ByPriority, ByUfunc, Metres

import spanwise as sw

T = sw.tensor


@pytest.fixture
def array(device):
    return sw.asarray([1.0, 2.0], device=device)


def metres(*values):
    return np.array(values).view(Metres)


REFUSED = ("add", "sub", "lt", "gt")
BY_OWN_OPERATORS = (*REFUSED, "eq", "ne", "matmul", "pow", "truediv", "floordiv", "mod")


@pytest.mark.parametrize("make", [ByUfunc, ByPriority])
def test_a_class_of_its_own_computes_products_and_refuses_sums(array, make):
    other = make(np.array([3.0, 4.0]))
    array = array.to("cpu")  # the values are one of NumPy's
    result = array * other
    assert type(result).__mro__[1:2] != [sw.Array] and result.values.tolist() == [3.0, 8.0]
    for name in BY_OWN_OPERATORS:
        with pytest.raises(TypeError, match="metres and numbers"):
            getattr(operator, name)(array, other)
    with pytest.raises(TypeError, match="metres and numbers"):
        divmod(array, other)


@pytest.mark.parametrize(
    "name", [*BY_OWN_OPERATORS, "mul", "lshift", "rshift", "and_", "or_", "xor"]
)
@pytest.mark.parametrize("make", [ByUfunc, ByPriority])
def test_special_methods_return_not_implemented(array, make, name):
    other = make(np.array([3.0, 4.0]))
    name = name.strip("_")
    prefixes = ("",) if name in ("lt", "gt", "eq", "ne") else ("", "r", "i")
    for prefix in prefixes:
        assert getattr(array, f"__{prefix}{name}__")(other) is NotImplemented
    assert array.tolist() == [1.0, 2.0]


def test_a_subclass_of_ndarray_computes_with_views(array):
    length = metres(3.0, 4.0)
    if array.device.kind != "cpu":
        for name in ("mul", *REFUSED):
            with pytest.raises(TypeError):
                getattr(operator, name)(array, length)
        return
    for result in (array * length, length * array, np.multiply(array, length)):
        assert type(result) is Metres and result.tolist() == [3.0, 8.0]
    assert (array @ length).tolist() == 11.0
    for name in REFUSED:
        for operands in ((array, length), (length, array)):
            with pytest.raises(TypeError, match="metres and numbers"):
                getattr(operator, name)(*operands)
    with pytest.raises(TypeError):
        np.multiply(array, length, out=array)
    assert array.tolist() == [1.0, 2.0]


def test_in_place_operators_do_not_drop_the_unit(array):
    array = array.to("cpu")
    kept = array
    array *= metres(3.0, 4.0)
    assert type(array) is Metres  # as in NumPy, the name is bound to the result
    assert kept.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="metres and numbers"):
        kept += metres(3.0, 4.0)


@pytest.mark.parametrize("make", [Metres, ByUfunc], ids=["ndarray", "wrapped"])
def test_functions_assignments_and_graphs_take_no_quantity(array, make):
    values = np.array([3.0, 4.0])
    length = values.view(Metres) if make is Metres else make(values)
    array = array.to("cpu")
    x = T.dvector()
    compiled = sw.function([x], x + 1, device="cpu")
    for call in (
        lambda: sw.add(array, length),
        lambda: sw.sin(length),
        lambda: sw.sum(length),
        lambda: sw.matmul(array, length),
        lambda: sw.concatenate([array, length]),
        lambda: sw.where(array > 1, array, length),
        lambda: array.__setitem__(slice(None), length),
        lambda: sw.add(array, 1, out=length),
        lambda: sw.linspace(array, length, 3),
        lambda: sw.clip(array, length, 5),
        lambda: sw.full(2, length),
        lambda: compiled(length),
        lambda: T.add(x, length),
        *((lambda: x * length, lambda: length * x) if make is Metres else ()),
    ):
        with pytest.raises(TypeError):
            call()
    assert array.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"units.*spanwise\.asarray\(x\)"):
        sw.add(array, length)
    # An explicit conversion gives the plain numbers, without a copy.
    plain = sw.asarray(length, copy=False)
    assert type(plain) is sw.Array and plain.ptr == values.ctypes.data


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of numpy.matrix
def test_matrices_and_masked_arrays_follow_numpy(array):
    array = array.to("cpu")
    masked = np.ma.array([3.0, 4.0], mask=[False, True])
    for result in (array + masked, masked + array):
        assert result.tolist() == [4.0, None]
    assert type(array + np.ma.array([3.0, 4.0])) is np.ma.MaskedArray
    with pytest.raises(sw.ArgumentError, match="masked"):
        sw.add(array, masked)
    matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert (array + matrix).tolist() == [[2.0, 4.0], [4.0, 6.0]]
    with pytest.raises(TypeError):  # NumPy's operator is the matrix product; never elementwise
        array * matrix


def test_arrays_that_bridges_list_stay_operands(array):
    class Named(np.ndarray):
        """A subclass that adds no operators."""

    array = array.to("cpu")
    for other in (np.ones(2), np.ones(2).view(Named), np.ones(2).view(np.memmap), np.float64(1)):
        assert type(array + other) is type(other + array) is sw.Array
        array += other
        array -= other
    assert array.tolist() == [1.0, 2.0]


def test_arrays_of_jax_stay_operands(array):
    jax = pytest.importorskip("jax")
    array = array.to("cpu")
    context = cuda_process.current_context()
    with jax.default_device(jax.devices("cpu")[0]):
        other = jax.numpy.asarray([1.0, 2.0], "float32")
    assert type(array + other) is sw.Array
    assert (array + other).tolist() == [2.0, 4.0]
    cuda_process.restore_context(context)  # JAX leaves its last GPU current when it starts


LENGTHS = {
    "astropy.units": lambda u: [3.0, 4.0] * u.m,
    "unyt": lambda unyt: unyt.unyt_array([3.0, 4.0], "m"),
    "pint": lambda pint: pint.UnitRegistry().Quantity(np.array([3.0, 4.0]), "m"),
}


@pytest.mark.parametrize("library", LENGTHS)
def test_quantities_of_libraries_keep_their_unit(array, library):
    length = LENGTHS[library](pytest.importorskip(library))
    array = array.to("cpu")
    product = array * length
    assert type(product) is type(length)
    np.testing.assert_array_equal(np.asarray(getattr(product, "magnitude", product)), [3.0, 8.0])
    assert str(length.units if hasattr(length, "units") else length.unit) in ("m", "meter")
    for call in (lambda: array + length, lambda: length + array, lambda: sw.add(array, length)):
        with pytest.raises(Exception, match=r"[Uu]nit|dimension|convert|spanwise"):
            call()
    assert sw.asarray(length).tolist() == [3.0, 4.0]
