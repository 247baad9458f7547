# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""An index that names one element gives a copy of it, as NumPy's scalars are copies."""

import operator
import random

import numpy as np
import pytest
from support.arrays import COMPUTABLE, assert_same, numbers

import spanwise as sw


class Index:
    def __index__(self):
        return 1


def keys_of_one_element(device):
    yield from [(1, 2), (-1, -2), (np.int64(1), 2), (Index(), np.array(2)), (True + 0, 2)]
    yield sw.array(1, device=device), 2


def is_copy(element, array):
    """Whether `element` keeps its value when `array` changes. Overwrites `array`."""
    before = element.item()
    array[...] = before + 1
    return element.base is None and element.item() == before


def test_elements_can_be_exchanged(device):
    a = sw.arange(4, device=device)
    a[0], a[1] = a[1], a[0]
    assert a.tolist() == [1, 0, 2, 3]
    m = sw.arange(6, device=device).reshape(2, 3)
    m[0, 0], m[1, 2] = m[1, 2], m[0, 0]
    assert m.tolist() == [[5, 1, 2], [3, 4, 0]]


def test_shuffle_loses_no_element(device):
    a = sw.arange(100, device=device)
    random.Random(5).shuffle(a)
    assert a.tolist() != list(range(100))
    assert sorted(a.tolist()) == list(range(100))
    expected = np.arange(100)
    random.Random(5).shuffle(expected)
    assert a.tolist() == expected.tolist()


def test_every_key_of_one_element_copies(device):
    values = numbers((3, 4), "int32", 1)
    for key in keys_of_one_element(device):
        array = sw.array(values, device=device)
        oracle = tuple(map(operator.index, key))
        element = array[key]
        assert_same(element, np.asarray(values[oracle]))
        assert element.flags.writeable
        assert is_copy(element, array), key


def test_rank_0_with_an_empty_tuple_is_a_copy(device):
    array = sw.array(3, device=device)
    assert is_copy(array[()], array)
    vector = sw.arange(3, device=device)
    assert vector[()].base is vector


def test_elements_of_a_loop_are_copies(device):
    array = sw.arange(3, device=device)
    elements = list(array)
    array[...] = 7
    assert [x.item() for x in elements] == [0, 1, 2]
    assert [x.item() for x in reversed(array)] == [7, 7, 7]
    rows = list(sw.zeros((2, 3), device=device))
    assert [row.base is not None for row in rows] == [True, True]


@pytest.mark.parametrize("key", [(0, Ellipsis), (Ellipsis, 0), (Ellipsis, Index())])
def test_ellipsis_index_returns_a_view_of_one_element(device, key):
    array = sw.arange(3, device=device)
    view = array[key]
    assert (view.shape, view.base is array) == ((), True)
    view[...] = 9
    assert array[operator.index(next(k for k in key if k is not Ellipsis))].item() == 9
    scalar = sw.array(3, device=device)
    scalar[...][...] = 4
    assert scalar.item() == 4


@pytest.mark.parametrize("key", [slice(1, 2), (1, None), None, [1]])
def test_keys_that_keep_an_axis_give_views_as_numpy(device, key):
    array, oracle = sw.arange(3, device=device), np.arange(3)
    assert (array[key].base is array) == (oracle[key].base is not None)
    assert_same(array[key], oracle[key])


@pytest.mark.parametrize("dtype", COMPUTABLE)
def test_elements_of_every_dtype_match_numpy(device, dtype):
    values = numbers((5, 2), dtype, 3)
    array = sw.array(values, device=device)[::-2, ::-1]
    for i, j in np.ndindex(3, 2):
        assert_same(array[i, j], np.asarray(values[::-2, ::-1][i, j]))
        assert_same(array[i][j], np.asarray(values[::-2, ::-1][i, j]))


def test_element_of_a_non_computable_dtype_is_a_copy():
    bytes_of_float8 = sw.arange(4, dtype="uint8", device="cpu").view("float8_e4m3fn")
    element = bytes_of_float8[2]
    assert (element.dtype, element.view("uint8").item()) == ("float8_e4m3fn", 2)
    assert element.base is None


def test_elements_of_read_only_and_foreign_memory_are_copies(device):
    array = sw.arange(3, device=device)
    array.flags.writeable = False
    element = array[1]
    element[...] = 5  # changes the copy only
    assert (element.item(), array.tolist()) == (5, [0, 1, 2])
    foreign = np.arange(3.0)
    element = sw.asarray(foreign, device="cpu")[1]
    foreign[1] = 9
    assert element.item() == 1.0


def test_adding_to_an_element_leaves_the_array(device):
    array = sw.arange(3.0, device=device)
    total = array[0]
    for x in array:
        total += x
    assert (total.item(), array.tolist()) == (3.0, [0.0, 1.0, 2.0])
    array[1] += 5
    assert array.tolist() == [0.0, 6.0, 2.0]


def test_alternating_dtypes_return_correct_elements():
    arrays = {dtype: sw.array(numbers((40,), dtype, 4), device="cpu") for dtype in COMPUTABLE}
    oracles = {dtype: numbers((40,), dtype, 4) for dtype in COMPUTABLE}
    element_lists = {dtype: list(array) for dtype, array in arrays.items()}
    for _ in range(3):
        for dtype, array in arrays.items():
            assert [array[i].item() for i in range(40)] == oracles[dtype].tolist()
    for dtype, elements in element_lists.items():
        assert [x.item() for x in elements] == oracles[dtype].tolist()


def test_referenced_element_memory_is_not_reused():
    array = sw.arange(3.0, device="cpu")
    host, capsule = array[1].numpy(), array[2].__dlpack__()
    held = [np.from_dlpack(array[0]), memoryview(array[1])]
    others = [array[0] for _ in range(50)]
    assert (host.item(), held[0].item(), held[1][()]) == (1.0, 0.0, 1.0)
    assert sw.from_dlpack(Capsule(capsule)).item() == 2.0
    assert len(others) == 50


class Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def test_read_only_flag_of_an_element_is_not_reused():
    array = sw.arange(3.0, device="cpu")
    element = array[0]
    element.flags.writeable = False
    del element
    assert all(array[i].flags.writeable for i in (0, 1, 2))


def test_element_does_not_keep_the_array_alive(device):
    import weakref

    array = sw.zeros(1000, device=device)
    element, reference = array[3], weakref.ref(array)
    del array
    assert reference() is None
    assert element.item() == 0.0


def test_element_of_an_array_on_cpu_1_is_a_copy_on_cpu_1():
    array = sw.arange(3, device="cpu:1")
    element = array[2]
    assert (element.device, element.item()) == (array.device, 2)
    assert is_copy(element, array)
