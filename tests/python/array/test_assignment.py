# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""a[k] = v broadcasts and casts values, and reads overlapping ones before it writes, as in NumPy."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp
from support.arrays import (
    COMPUTABLE,
    assert_same,
    numbers,
    pair,
    poisoned,
    same_kind,
    windows,
    with_ellipsis,
)

import spanwise as sw

SEEDS = st.integers(0, 2**32)
DTYPES = st.sampled_from(COMPUTABLE)


def assign_in_numpy(target, key, value):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a complex value loses its imaginary part
        target[key] = value


def fits(shape, target):
    """Whether a value of `shape` can be assigned to a view of shape `target`. Leading axes of extent 1 may
    be surplus, as in NumPy."""
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    return len(shape) <= len(target) and all(
        a in (1, b) for a, b in zip(shape[::-1], target[::-1], strict=False)
    )


@given(
    data=st.data(),
    window=windows(broadcast=False),
    source=windows(),
    dtypes=st.tuples(DTYPES, DTYPES),
    seed=SEEDS,
)
def test_assignment_broadcasts_and_casts(device, data, window, source, dtypes, seed):
    base = poisoned(window.base_shape, dtypes[0], device)
    expected = base.numpy().copy()
    ours, oracle = window.of(base), window.of(expected)
    key = with_ellipsis(data.draw(hnp.basic_indices(oracle.shape, allow_newaxis=True, max_dims=6)))
    target_shape = oracle[key].shape
    value, value_oracle = pair(source, dtypes[1], device, seed)
    if not fits(value_oracle.shape, target_shape):
        # Takes a value of the target's shape instead, with extent 1 on some axes.
        shape = tuple(n if data.draw(st.booleans()) else 1 for n in target_shape)
        value_oracle = numbers(shape, dtypes[1], seed)
        value = sw.array(value_oracle, device=device)
    assign_in_numpy(oracle, key, value_oracle)
    ours[key] = value
    # All of the memory: bytes outside the view must be unchanged.
    assert_same(base, expected)


@given(data=st.data(), window=windows(broadcast=False, min_rank=1), seed=SEEDS, dtype=DTYPES)
def test_assignment_between_overlapping_views_matches_numpy(device, data, window, seed, dtype):
    values = numbers(window.base_shape, dtype, seed)
    base = sw.array(values, device=device)
    ours, oracle = window.of(base), window.of(values)
    target_key = with_ellipsis(data.draw(hnp.basic_indices(oracle.shape, allow_newaxis=False)))
    shape = oracle[target_key].shape
    source_key = with_ellipsis(data.draw(hnp.basic_indices(oracle.shape, allow_newaxis=False)))
    assume(oracle[source_key].shape == shape)
    oracle[target_key] = oracle[source_key].copy()
    ours[target_key] = ours[source_key]
    assert_same(base, values)


@pytest.mark.parametrize("n", [5, 1000, 100_000])
@pytest.mark.parametrize("shift", [1, -1, 3, -700])
def test_assignment_shifted_within_one_array_matches_numpy(device, n, shift):
    values = numbers((n,), "float32", 1)
    ours, expected = sw.array(values, device=device), values.copy()
    low, high = slice(None, n - abs(shift)) if abs(shift) < n else slice(0, 0), slice(abs(shift), n)
    target, source = (high, low) if shift > 0 else (low, high)
    expected[target] = values[source]
    ours[target] = ours[source]
    assert_same(ours, expected)


def test_reversing_and_transposing_in_place_match_numpy(device):
    values = numbers((300, 300), "int32", 2)
    ours = sw.array(values, device=device)
    ours[...] = ours.T
    assert_same(ours, values.T.copy())
    ours[::-1] = ours
    assert_same(ours, values.T[::-1].copy())


@pytest.mark.parametrize("dtype", COMPUTABLE)
@pytest.mark.parametrize("value", [True, 3, -2, 2.75, 2 + 1j, 10**30, np.inf, np.nan, 300, 2**63])
def test_python_numbers_are_taken_or_refused_as_by_numpy(device, dtype, value):
    # ml_dtypes accepts fewer kinds of number than NumPy's own floats, so float32 is the reference.
    expected = np.zeros(3, "float32" if dtype == "bfloat16" else dtype)
    ours = poisoned((3,), dtype, device)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected[...] = value
    except (OverflowError, ValueError, TypeError) as refusal:
        with pytest.raises(type(refusal)):
            ours[...] = value
        return
    ours[...] = value
    with np.errstate(all="ignore"):
        assert_same(ours, expected.astype(sw.dtype(dtype).dtype))


@given(window=windows(broadcast=False), seed=SEEDS)
def test_assigned_numpy_arrays_and_lists_match_numpy(device, window, seed):
    base = poisoned(window.base_shape, "float32", device)
    expected = base.numpy().copy()
    ours, oracle = window.of(base), window.of(expected)
    values = numbers(oracle.shape, "int32", seed)
    ours[...] = values[::-1] if values.ndim else values
    oracle[...] = values[::-1] if values.ndim else values
    assert_same(base, expected)
    assume(values.size > 0)  # tolist() of an empty array loses its further axes
    ours[...] = values.tolist()
    oracle[...] = values
    assert_same(base, expected)


def test_lists_are_checked_number_by_number(device):
    ours = sw.zeros(3, "uint8", device=device)
    ours[...] = [1, 255, 0]
    assert ours.tolist() == [1, 255, 0]
    with pytest.raises((OverflowError, sw.Error)):
        ours[...] = [1, 256, 0]
    with pytest.raises(sw.LayoutError):
        ours[...] = [1, 2]
    assert ours.tolist() == [1, 255, 0]


def test_broadcast_error_names_both_shapes(device):
    with pytest.raises(sw.LayoutError) as caught:
        sw.zeros((3, 4), device=device)[1:] = sw.zeros((3, 4), device=device)
    assert "(3, 4)" in str(caught.value)
    assert "(2, 4)" in str(caught.value)


def test_value_that_is_not_an_array_is_rejected():
    array = sw.zeros(3)
    for value in ("abc", object(), None, {"a": 1}):
        with pytest.raises(sw.Error):
            array[...] = value
    assert array.tolist() == [0, 0, 0]


def test_read_only_memory_is_never_written(device):
    values = numbers((3, 4), "float32", 3)
    values.flags.writeable = False
    ours = sw.asarray(values)
    for write in (
        lambda: ours.__setitem__(0, 1),
        lambda: ours[1:].fill(0),
        lambda: sw.copyto(ours.T, 0),
        lambda: ours.__setitem__((0, 0), sw.zeros((), device=device)),
    ):
        with pytest.raises(sw.ReadOnlyError, match="read-only"):
            write()
    assert (values == numbers((3, 4), "float32", 3)).all()


def test_the_read_only_bit_can_be_set_and_not_cleared(device):
    array = sw.zeros(3, device=device)
    window = array.view()
    window.flags.writeable = False
    with pytest.raises(sw.ReadOnlyError):
        window[0] = 1
    with pytest.raises(sw.ReadOnlyError, match=r"a\.copy\(\)"):
        window.flags.writeable = True
    array[0] = 1  # the flag belongs to `window` only
    assert window[0].item() == 1
    assert not window[1:].flags.writeable
    assert window.copy().flags.writeable


@given(window=windows(broadcast=False), seed=SEEDS, dtypes=st.tuples(DTYPES, DTYPES))
def test_copyto_obeys_its_casting_rule(device, window, seed, dtypes):
    base = poisoned(window.base_shape, dtypes[0], device)
    expected = base.numpy().copy()
    source = numbers(window.shape, dtypes[1], seed)
    target, oracle = window.of(base), window.of(expected)
    value = sw.array(source, device=device)
    if same_kind(source.dtype, expected.dtype):
        np.copyto(oracle, source, casting="unsafe")
        sw.copyto(target, value)
    else:
        with pytest.raises(sw.DTypeError, match="same_kind"):
            sw.copyto(target, value)
        assign_in_numpy(oracle, ..., source)
        sw.copyto(target, value, casting="unsafe")
    assert_same(base, expected)


def test_copyto_writes_other_libraries_arrays(device):
    target = np.zeros((2, 3), "float32")
    sw.copyto(target, sw.ones(3, device=device), casting="unsafe")
    assert (target == 1).all()
    sw.copyto(target[:, 1], 5)
    assert target.tolist() == [[1, 5, 1], [1, 5, 1]]


@given(window=windows(broadcast=False), dtype=DTYPES)
def test_fill_changes_only_the_view(device, window, dtype):
    base = poisoned(window.base_shape, dtype, device)
    expected = base.numpy().copy()
    window.of(base).fill(1)
    window.of(expected)[...] = 1
    assert_same(base, expected)


FILLS = """
import sys
import numpy as np
import spanwise as sw
device = sys.argv[1]
# Without kernels in the process: a GPU fills by the driver, if the bytes of a value repeat.
for dtype in "float32 uint16 int8 bool float16 int32 int64 float64 complex64 complex128".split():
    for number in (0, 1, 0x4141, 0x41414141 if dtype in ("int32", "int64") else 2.5, 1e300):
        with np.errstate(all="ignore"):
            value = np.array(number).astype(dtype)[()]
        for size in (1, 5, 300, 1 << 18):
            base = sw.array(np.full(size + 9, 7).astype(dtype), device=device)
            expected = base.numpy().copy()
            base[4 : 4 + size].fill(value.item())
            expected[4 : 4 + size] = value
            assert base.numpy().tobytes() == expected.tobytes(), (dtype, number, size)
"""

ZEROS = """
import sys
import spanwise as sw
x = sw.zeros((3, 5), dtype="complex128", device=sys.argv[1])
x[1].fill(0), sw.ones(7, dtype="float32", device=sys.argv[1]), sw.full(3, 5, "int16", device=sys.argv[1])
assert not x.numpy().any()
"""


@pytest.mark.parametrize("program", [FILLS, ZEROS], ids=["values", "zeros"])
def test_fill_is_correct_and_compiles_no_kernel_for_repeating_bytes(device, tmp_path, program):
    environment = {**os.environ, "SPANWISE_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program, str(device)], env=environment, check=True)
    compiled = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert program is FILLS or not compiled, "a fill of repeating bytes compiled a kernel"
