# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Indexing of arrays with more elements than a signed 32-bit integer can count."""

import os

import numpy as np
import pytest

import spanwise as sw

SIZE = 2**31 + 4096
#: Positions near both ends and around 2^31, where an offset of 32 bits is wrong.
POSITIONS = np.array(
    [0, 5, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 77, SIZE - 1, -1, -SIZE, 2**31 - SIZE]
)
VALUES = np.arange(1, len(POSITIONS) + 1, dtype="int8")


def free_memory(device):
    if device.kind == "cpu":
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sw.memory.stats(device)["free"]


@pytest.fixture(scope="module")
def memory():
    """One array for all tests of a device, because the host takes a second to clear it."""
    return {}


@pytest.fixture
def array(device, memory):
    """int8 zeros of SIZE elements; tests leave zeros behind."""
    if device.name not in memory:
        memory.clear()
        # The array, a mask of its size, and temporary copies.
        if free_memory(device) < 4 * SIZE:
            pytest.skip(f"{device} has less than {4 * SIZE >> 30} GB of free memory")
        memory[device.name] = sw.zeros(SIZE, "int8", device=device)
    return memory[device.name]


def expected_after_writing():
    """The elements that differ from 0: the last value of each position counts."""
    return dict(zip((POSITIONS % SIZE).tolist(), VALUES.tolist(), strict=True))


def assert_only(array, elements):
    """The array is 0 but for these elements, which are then set to 0."""
    for position, value in elements.items():
        assert array[position].item() == value, position
        array[position] = 0
    assert not array.any().item()


def test_index_arrays_beyond_2_to_31_write_and_read(device, array):
    indices = sw.asarray(POSITIONS, device=device)
    array[indices] = sw.asarray(VALUES, device=device)
    expected = np.array([expected_after_writing()[p] for p in (POSITIONS % SIZE).tolist()], "int8")
    np.testing.assert_array_equal(array[indices].numpy(), expected)
    np.testing.assert_array_equal(sw.take(array, indices).numpy(), expected)
    assert_only(array, expected_after_writing())


def test_put_and_add_at_write_beyond_2_to_31(device, array):
    sw.put(array, sw.asarray(POSITIONS, device=device), sw.asarray(VALUES, device=device))
    assert_only(array, expected_after_writing())
    sw.add.at(array, sw.asarray(POSITIONS, device=device), 1)
    positions, counts = np.unique(POSITIONS % SIZE, return_counts=True)
    assert_only(array, dict(zip(positions.tolist(), counts.tolist(), strict=True)))


def test_indices_outside_are_refused(device, array):
    for wrong in (SIZE, -SIZE - 1, 2**32):
        indices = sw.asarray(np.array([1, wrong]), device=device)
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            array[indices]
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            array[indices] = 1
    assert not array[:8].any().item()


def test_slices_across_2_to_31_write_and_read(device, array):
    part = array[2**31 - 5 : 2**31 + 9 : 3]
    part[...] = sw.arange(1, 6, dtype="int8", device=device)
    np.testing.assert_array_equal(part.numpy(), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(array[2**31 + 7 : 2**31 - 6 : -3].numpy(), [5, 4, 3, 2, 1])
    halves = array[:: 2**31 + 1]
    halves[...] = 9
    assert_only(array, {2**31 - 5 + 3 * k: k + 1 for k in range(5)} | {0: 9, 2**31 + 1: 9})


def test_rows_of_a_large_matrix_are_written_and_read(device, array):
    rows = array.reshape(-1, 4096)
    indices = sw.asarray(np.array([len(rows) - 1, 2, -2]), device=device)
    rows[indices] = sw.asarray(np.array([[7], [8], [9]], "int8"), device=device)
    picked = rows[indices][:, ::4095].numpy()
    np.testing.assert_array_equal(picked, [[7, 7], [8, 8], [9, 9]])
    assert int(rows[2:3].sum()) == 8 * 4096
    rows[indices] = 0
    assert not array.any().item()


def test_mask_beyond_2_to_31_selects_elements(device, array):
    mask, positions = sw.zeros(SIZE, "bool", device=device), np.unique(POSITIONS % SIZE)
    mask[sw.asarray(positions, device=device)] = True
    assert sw.count_nonzero(mask) == len(positions)
    np.testing.assert_array_equal(sw.nonzero(mask)[0].numpy(), positions)
    values = VALUES[: len(positions)]
    array[mask] = sw.asarray(values, device=device)
    np.testing.assert_array_equal(array[mask].numpy(), values)
    assert_only(array, dict(zip(positions.tolist(), values.tolist(), strict=True)))
