# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles carry the elements, and come back on the same device or, where that is absent, the CPU."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arrays import COMPUTABLE, assert_same, numbers, pair, windows

import spanwise as sw


@given(
    window=windows(),
    dtype=st.sampled_from(COMPUTABLE),
    protocol=st.integers(0, pickle.HIGHEST_PROTOCOL),
    seed=st.integers(0, 2**32),
)
def test_round_trip(device, window, dtype, protocol, seed):
    ours, oracle = pair(window, dtype, device, seed)
    back = pickle.loads(pickle.dumps(ours, protocol))
    assert_same(back, oracle)
    assert back.device == device
    assert back.base is None
    if back.size:
        back[...] = 0  # its memory is its own, and writeable


def test_large_buffers_travel_beside_the_stream(device):
    array = sw.array(numbers((100, 1000), "float32", 1), device=device)
    buffers = []
    stream = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < 1000
    assert sum(buffer.raw().nbytes for buffer in buffers) == array.nbytes
    assert_same(pickle.loads(stream, buffers=buffers), array.numpy())


def test_an_absent_device_becomes_the_cpu():
    _, (kind, content, dtype, shape, _), _ = sw.zeros((2, 3)).__reduce__()
    back = sw._core._rebuild_array(kind, content, dtype, shape, "cuda:97")
    assert back.device == "cpu"
    assert back.shape == (2, 3)


def test_a_damaged_pickle_says_so():
    _, (kind, content, dtype, shape, device), _ = sw.zeros((2, 3)).__reduce__()
    with pytest.raises(sw.ArgumentError, match=r"48 bytes.*got 47"):
        sw._core._rebuild_array(kind, content[:-1], dtype, shape, device)


def test_dtypes_without_a_python_number_travel_too(device):
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


def test_another_process_reads_it(tmp_path):
    path = tmp_path / "array.pickle"
    path.write_bytes(pickle.dumps(sw.arange(5)))
    program = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[0, 1, 2, 3, 4]\n"
