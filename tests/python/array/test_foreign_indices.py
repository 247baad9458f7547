# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Index arrays and masks of other libraries, whose types are sequences to CPython or mappings."""

import numpy as np
import pytest
from python.array.mapping_array import MappingArray, is_sequence
from support.arrays import assert_same, numbers

import spanwise as sw

KEYS = {
    "mask": [True, False, True],
    "mask of one": [True],
    "true": True,
    "false": False,
    "indices": [2, 0, 0, -1],
    "an index in a list": [1],
    "an index": 1,
    "a matrix of indices": [[0, 1], [2, 2]],
    "a matrix of booleans": [[True, False], [False, True], [True, True]],
    "no indices": np.zeros(0, "int64"),
}


def torch_tensor(values):
    return pytest.importorskip("torch", reason="torch is not installed").tensor(values)


@pytest.mark.parametrize("convert", [np.asarray, MappingArray, torch_tensor])
@pytest.mark.parametrize("name", KEYS)
def test_arrays_of_other_libraries_are_indices(device, convert, name):
    values = numbers((1 if name == "mask of one" else 3, 2), "int32", 1)
    key, oracle = convert(KEYS[name]), np.asarray(KEYS[name])
    array = sw.array(values, device=device)
    assert_same(array[key], np.asarray(values[oracle]))
    if oracle.ndim < 2:
        assert_same(array[key, 1], np.asarray(values[oracle, 1]))
        assert_same(array[..., None][key], np.asarray(values[..., None][oracle]))
    array[key] = -1
    values[oracle] = -1
    assert_same(array, values)


def test_lazy_integers_are_indices(device):
    dask = pytest.importorskip("dask.array", reason="dask is not installed")
    array = sw.array(np.arange(5), device=device)
    assert array[dask.asarray(np.int64(2))] == 2
    array[dask.asarray(np.int64(2))] = 7
    assert array.tolist() == [0, 1, 7, 3, 4]


def test_a_mapping_array_is_no_sequence():
    assert not is_sequence(MappingArray([1]))
    assert is_sequence(np.asarray([1]))


@pytest.mark.parametrize("convert", [np.asarray, MappingArray, torch_tensor])
def test_shape_may_be_another_librarys_array(device, convert):
    assert sw.zeros(convert([2, 3]), device=device).shape == (2, 3)
    assert sw.zeros(convert([4]), device=device).shape == (4,)
    assert sw.zeros(convert(5), device=device).shape == (5,)
