# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: tensors are shared through its C exchange API; tensors that need more than memory
raise."""

import gc
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support import dlpack
from support.arrays import assert_same, pair, windows

import spanwise as sw

torch = pytest.importorskip("torch", reason="torch is not installed")

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.fixture(autouse=True)
def on_a_device_of_both(device):
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3, 4)])
def test_tensors_are_shared_both_ways(device, shape, dtype):
    foreign = torch.zeros(shape, dtype=getattr(torch, dtype), device=str(device))
    ours = sw.from_torch(foreign)
    assert ours.shape == shape
    assert ours.dtype.name == dtype
    assert ours.device == device
    back = sw.to_torch(ours)
    assert back.dtype == foreign.dtype
    assert back.shape == foreign.shape
    if ours.size:
        assert ours.ptr == foreign.data_ptr() == back.data_ptr()


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_export_shares_or_copies_as_explained(device, window, dtype, seed):
    ours, oracle = pair(window, dtype, device, seed)
    explanation = sw.explain(ours, "torch")
    if explanation.shares:
        tensor = sw.to_torch(ours)
        if ours.size:
            assert tensor.data_ptr() == ours.ptr
    else:
        # Of two reasons, explain() may give either; the error gives the same one.
        reason = "negative" if "negative" in explanation.reason else "read-only"
        assert reason in explanation.reason
        assert min(ours.strides) < 0 if reason == "negative" else not ours.flags.writeable
        with pytest.raises(sw.CopyNeededError, match=reason):
            sw.to_torch(ours)
        tensor = sw.to_torch(ours, copyif=True)
        assert ours.size == 0 or tensor.data_ptr() != ours.ptr
    np.testing.assert_array_equal(tensor.cpu().numpy(), oracle)
    back = sw.from_torch(tensor)
    assert back.size == 0 or back.ptr == tensor.data_ptr()
    assert_same(back, oracle)


@given(window=windows(), seed=st.integers(0, 2**32))
def test_torchs_own_import_of_ours_is_the_same_memory(device, window, seed):
    ours, oracle = pair(window, "float32", device, seed)
    if not sw.explain(ours, "torch").shares:
        return
    tensor = torch.from_dlpack(ours)
    np.testing.assert_array_equal(tensor.cpu().numpy(), oracle)
    if ours.size:
        assert tensor.data_ptr() == ours.ptr


def test_strided_tensors_keep_their_strides(device):
    base = torch.arange(24, dtype=torch.int32, device=str(device)).reshape(4, 6)
    for foreign in (base[::2, ::3], base.T, base[1], base[:1].expand(3, 6)):
        ours = sw.asarray(foreign, copy=False)
        assert ours.ptr == foreign.data_ptr()
        assert ours.tolist() == foreign.tolist()


def test_a_tensor_is_held_while_an_array_shares_it(device):
    foreign = torch.zeros(8, device=str(device))
    sw.asarray(foreign)
    held = sys.getrefcount(foreign)
    ours = sw.asarray(foreign)
    part = ours[2:]
    assert sys.getrefcount(foreign) == held + 1
    del ours
    assert sys.getrefcount(foreign) == held + 1
    del part
    assert sys.getrefcount(foreign) == held


def test_torch_from_dlpack_of_negative_strides_raises_and_the_array_stays_usable(device):
    ours = sw.asarray(np.arange(6.0).reshape(2, 3), device=device)
    for window in (ours[::-1], ours[:, ::-1]):
        with pytest.raises(sw.CopyNeededError, match=r"negative.*to_torch\(x, copyif=True\)"):
            torch.from_dlpack(window)
        assert sw.to_torch(window, copyif=True).tolist() == window.tolist()
    assert torch.from_dlpack(ours[:1][::-1]).tolist() == [[0.0, 1.0, 2.0]]
    if device.kind == "cpu":
        assert np.from_dlpack(ours[::-1]).tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]


def test_read_only_memory_is_not_given_to_tensors():
    values = np.zeros(3, np.float32)
    values.flags.writeable = False
    with pytest.raises(sw.CopyNeededError, match="read-only"):
        sw.to_torch(values)
    copied = sw.to_torch(values, copyif=True)
    copied += 1
    assert values.tolist() == [0.0, 0.0, 0.0]


def test_a_dtype_that_torch_lacks_is_named():
    producer = dlpack.Producer(np.zeros(2, np.float64))
    producer.tensor.dtype = dlpack.DataType(2, 32, 4)  # one vector of four float32
    producer.tensor.ndim = 0
    ours = sw.from_dlpack(producer)
    with pytest.raises(sw.DTypeError, match="float32x4"):
        sw.to_torch(ours)


def test_writes_are_seen_on_both_sides(device):
    foreign = torch.zeros(4, device=str(device))
    ours = sw.asarray(foreign)
    ours[1] = 5
    sw.synchronize(device)
    assert foreign.tolist() == [0, 5, 0, 0]
    foreign[2] = 7
    assert sw.asarray(foreign).tolist() == [0, 5, 7, 0]


def test_shared_memory_outlives_either_array(device):
    foreign = torch.arange(1000, device=str(device))
    ours = sw.asarray(foreign)
    del foreign
    gc.collect()
    assert_same(ours, np.arange(1000))
    back = sw.to_torch(ours)
    del ours
    gc.collect()
    assert int(back.sum()) == 499500


def test_work_of_both_libraries_is_ordered(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    stream = torch.cuda.Stream()
    for value in range(20):
        with torch.cuda.stream(stream):
            foreign = torch.full((1 << 22,), float(value), device="cuda")
            foreign += 1
            copied = sw.asarray(foreign).copy()
        foreign = sw.to_torch(copied)
        foreign += 1
        assert sw.asarray(foreign)[-1].item() == value + 2


def test_memory_that_torch_still_reads_is_not_reused(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    side = torch.cuda.Stream()
    for value in range(20):
        ours = sw.full((1 << 20,), float(value), dtype="float32", device=device)
        with torch.cuda.stream(side):
            theirs = sw.to_torch(ours)
            torch.cuda._sleep(10_000_000)
            read = theirs.clone()
        del theirs, ours
        fresh = [sw.full((1 << 20,), -1.0, dtype="float32", device=device) for _ in range(3)]
        side.synchronize()
        assert bool((read == value).all())
        del fresh


def test_repeated_exchanges_keep_no_reference_to_the_tensor(device):
    foreign = torch.zeros(1000, device=str(device))
    held = sys.getrefcount(foreign)
    for _ in range(1000):
        sw.to_torch(sw.asarray(foreign))
    sw.synchronize(device)
    gc.collect()
    assert sys.getrefcount(foreign) == held
