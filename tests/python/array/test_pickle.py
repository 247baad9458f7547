# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles contain the elements and load on the same device, or on the CPU if it is absent."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows

import spanwise as sw


@given(
    window=windows(),
    dtype=st.sampled_from(COMPUTABLE),
    protocol=st.integers(0, pickle.HIGHEST_PROTOCOL),
    seed=st.integers(0, 2**32),
)
def test_unpickled_array_has_the_same_elements_in_its_own_memory(
    device, window, dtype, protocol, seed
):
    ours, oracle = pair(window, dtype, device, seed)
    back = pickle.loads(pickle.dumps(ours, protocol))
    assert_same(back, oracle)
    assert back.device == device
    assert back.flags.writeable == ours.flags.writeable
    if back.size and back.flags.writeable:
        back[...] = 0  # must not change `ours`
        assert_same(ours, oracle)


def arguments_of(array, protocol=2):
    function, arguments, _ = array.__reduce_ex__(protocol)
    assert function is sw.rebuild_array
    return list(arguments)


def test_array_of_an_absent_gpu_arrives_on_the_default_device():
    arguments = arguments_of(sw.zeros((2, 3)))
    arguments[4] = "cuda:97"  # the device
    back = sw.rebuild_array(*arguments)
    assert back.device == sw.device()
    assert back.shape == (2, 3)


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [  # arguments of rebuild_array: 0 is the bytes, 2 the shape, 3 the strides
        (0, bytes(47), "48 bytes.*got 47"),
        (0, bytes(49), "48 bytes.*got 49"),
        (2, (2, 4), "64 bytes.*got 48"),
        (3, (24,), "expected 2 strides"),
        (3, (24, -8), "multiples of 8, got -8"),
        (3, (24, 4), "multiples of 8, got 4"),
        (3, (24, 16), "64 bytes.*got 48"),
        (3, (2**62, 2**62), "reach too far"),
    ],
)
def test_damaged_pickle_raises(index, value, message):
    arguments = arguments_of(sw.zeros((2, 3), device="cpu"))
    arguments[index] = value
    with pytest.raises(sw.ArgumentError, match=message):
        sw.rebuild_array(*arguments)


def test_dtypes_without_python_numbers_are_pickled(device):
    raw = numbers((8,), "uint8", 2)
    array = sw.array(raw, device=device).view("float8_e4m3fn")
    back = pickle.loads(pickle.dumps(array))
    assert back.dtype == "float8_e4m3fn"
    assert (back.view("uint8").numpy() == raw).all()


class Tagged(sw.Array):
    pass


def test_subclasses_keep_their_class_and_attributes():
    tagged = Tagged(np.arange(3.0))
    tagged.note = "kept"
    back = pickle.loads(pickle.dumps(tagged))
    assert type(back) is Tagged
    assert back.note == "kept"
    assert back.tolist() == [0, 1, 2]


def test_rebuild_array_rejects_classes_that_are_not_arrays():
    with pytest.raises(TypeError, match="subclass of spanwise.Array"):
        sw.rebuild_array(bytes(8), "float64", (), kind=list)


def test_pickle_is_read_by_another_process(tmp_path):
    path = tmp_path / "array.pickle"
    path.write_bytes(pickle.dumps(sw.arange(5)))
    program = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0, 1, 2, 3, 4]\n"
