# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory: what arrays hold, the limit, and other libraries' allocators."""

import gc
import sys
import threading
import types
from types import SimpleNamespace

import numpy as np
import pytest
from python.process.host_block import HostBlock
from support.arrays import numbers

import spanwise as sw

MIB = 1 << 20


@pytest.fixture
def pool(device):
    gc.collect()
    pool = sw.memory.pool(device)
    pool.reset_peak()
    yield pool
    pool.limit = None


def host_allocator(ordinal, nbytes, stream):
    assert (ordinal, stream) == (0, 0)
    return HostBlock(nbytes)


def test_stats_count_memory_once_for_all_views(pool, device):
    before = sw.memory.stats(device)
    a = sw.empty((2, MIB), "uint8", device=device)
    views = [a[0], a.T, a[::-1]]
    now = pool.stats()
    assert now["used"] - before["used"] == 2 * MIB
    assert now["allocations"] - before["allocations"] == 1
    assert now["held"] >= 2 * MIB
    assert 0 < now["free"] < now["total"]
    assert (now["device"], now["limit"], now["allocator"]) == (str(device), None, "pool")
    del a
    assert pool.used == now["used"]
    del views
    assert pool.used == before["used"]
    assert pool.peak - before["used"] == 2 * MIB
    pool.reset_peak()
    assert pool.peak == pool.used
    assert repr(pool).startswith(f"Pool('{device}', used=")


def test_shared_memory_is_not_counted(pool):
    theirs = np.zeros(MIB)
    before = sw.memory.stats("cpu")["used"]
    ours = sw.asarray(theirs, device="cpu")
    assert np.shares_memory(ours.numpy(), theirs)
    assert sw.memory.stats("cpu")["used"] == before


def test_trim_returns_unused_memory_to_the_system(pool, device):
    a = sw.empty(64 * MIB, "uint8", device=device)
    del a
    before = pool.held
    pool.trim()
    assert pool.held <= before - 64 * MIB
    values = numbers((100,), "float32", 1)
    assert (sw.array(values, device=device) * 2).numpy().tolist() == (values * 2).tolist()


def test_memory_of_dropped_elements_is_not_in_use():
    array = sw.arange(100.0, device="cpu")
    used = sw.memory.stats("cpu")["used"]
    elements = list(array)
    assert sw.memory.stats("cpu")["used"] > used
    assert sum(map(float, elements)) == 4950.0
    del elements
    assert sw.memory.stats("cpu")["used"] == used


def test_elements_come_from_the_allocator_in_use():
    array = sw.arange(3.0, device="cpu")
    assert float(array[0]) == 0.0  # its memory is cached for the next element
    with sw.memory.use_allocator(host_allocator, "cpu"):
        before = sw.memory.stats("cpu")["allocations"]
        assert [float(array[i]) for i in range(3)] == [0.0, 1.0, 2.0]
        assert sw.memory.stats("cpu")["allocations"] == before + 3
    assert [float(x) for x in array] == [0.0, 1.0, 2.0]


def test_allocation_beyond_the_limit_raises(pool, device):
    pool.limit = pool.used + MIB
    assert pool.limit == pool.used + MIB
    a = sw.zeros(MIB // 2, "uint8", device=device)
    with pytest.raises(sw.OutOfMemoryError, match=r"requested where arrays hold .* may hold"):
        sw.zeros(MIB, "uint8", device=device)
    with pytest.raises(MemoryError):
        sw.ones((1024, 1024), device=device)
    assert int(a.sum()) == 0  # a failed allocation changes no array
    pool.limit = None
    assert sw.zeros(2 * MIB, "uint8", device=device).nbytes == 2 * MIB
    with pytest.raises(sw.ArgumentError, match=r"bytes >= 0"):
        pool.limit = -1
    with pytest.raises(TypeError, match=r"expected a number of bytes.*'8GiB' of type str"):
        pool.limit = "8GiB"


def test_function_may_be_the_allocator():
    values = numbers((40, 30), "float64", 2)
    with sw.memory.use_allocator(host_allocator, "cpu"):
        assert sw.memory.stats("cpu")["allocator"] == "host_allocator"
        a = sw.array(values, device="cpu")
        assert HostBlock.alive == 1
        b = a[::2] @ a[::2].T
        assert HostBlock.alive >= 2
    assert sw.memory.stats("cpu")["allocator"] == "pool"
    c = b + 1
    np.testing.assert_allclose(c.numpy(), values[::2] @ values[::2].T + 1)
    outside = b.numpy()
    del a, b, c
    gc.collect()
    assert HostBlock.alive == 1  # `outside` is a view of it
    np.testing.assert_allclose(outside, values[::2] @ values[::2].T)
    del outside
    assert HostBlock.alive == 0


def test_blocks_dropped_by_another_thread_are_freed():
    with sw.memory.use_allocator(host_allocator, "cpu"):
        arrays = [sw.ones(1000, device="cpu") for _ in range(8)]
        worker = threading.Thread(target=arrays.clear)
        worker.start()
        worker.join()
    assert HostBlock.alive == 0


def test_failing_allocator_function_raises():
    def out_of_memory(ordinal, nbytes, stream):
        raise MemoryError("all gone")

    def broken(ordinal, nbytes, stream):
        raise KeyError("its own fault")

    def bare(ordinal, nbytes, stream):
        return 4096

    def odd(ordinal, nbytes, stream):
        return SimpleNamespace(ptr=4097)

    def nothing(ordinal, nbytes, stream):
        return SimpleNamespace(data_ptr=lambda: 0)

    used = sw.memory.stats("cpu")["used"]
    for function, error, message in (
        (out_of_memory, sw.OutOfMemoryError, r"out_of_memory has no .* bytes.*all gone"),
        (broken, KeyError, "its own fault"),
        (bare, sw.ArgumentError, "bare address"),
        (odd, sw.ArgumentError, "multiple of 16"),
        (nothing, sw.OutOfMemoryError, "gave no memory"),
    ):
        with sw.memory.use_allocator(function, "cpu"), pytest.raises(error, match=message):
            sw.zeros(100, device="cpu")
    assert sw.memory.stats("cpu")["used"] == used


def test_unknown_or_missing_allocator_raises(monkeypatch):
    with pytest.raises(
        sw.ArgumentError, match=r"'cupy', 'rmm', 'torch', 'pool' or None, got 'jax'"
    ):
        sw.memory.use_allocator("jax", "cpu")
    with pytest.raises(sw.ArgumentError, match="allocates on GPUs"):
        sw.memory.use_allocator("torch", "cpu")
    monkeypatch.setitem(sys.modules, "rmm", None)
    with pytest.raises(ImportError):
        sw.memory.use_allocator("rmm", "cuda")


def test_compiled_functions_use_the_allocator():
    values = numbers((50, 60), "float64", 3)
    with sw.device("cpu"):
        x = sw.tensor.dmatrix("x")
        f = sw.function([x], (x * 2 + 1).sum(axis=0))
        with sw.memory.use_allocator(host_allocator, "cpu"):
            result = f(values)
        assert HostBlock.alive >= 1
    np.testing.assert_allclose(result.numpy(), (values * 2 + 1).sum(axis=0))
    np.testing.assert_allclose(f(values).numpy(), (values * 2 + 1).sum(axis=0))
    f.free()
    del result
    gc.collect()
    assert HostBlock.alive == 0


def test_copies_off_a_gpu_have_their_own_memory(gpu):
    """Page-locked memory is reused for copies of the same size, but not while an array or a view of
    NumPy's uses it; trimming the GPU's pool frees none of it."""
    values = numbers((300, 1000), "float32", 5)
    a = sw.array(values, device=gpu)
    results = []
    for i in range(8):
        host = (a + i).to("cpu")
        assert host.device == "cpu" and host.flags.writeable
        results.append(host.numpy() if i % 2 else host.T.numpy().T)
        del host
    assert len({array.ctypes.data for array in results}) == len(results)
    sw.memory.pool(gpu).trim()
    for i, array in enumerate(results):
        np.testing.assert_array_equal(array, values + i)
    used = sw.memory.stats("cpu")["used"]
    results.clear()
    gc.collect()
    assert sw.memory.stats("cpu")["used"] < used
    workers = [
        threading.Thread(target=lambda: [(a * 2).numpy() for _ in range(20)]) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    np.testing.assert_array_equal((a * 2).numpy(), values * 2)


def reserved(name):
    """Bytes of the library's pool in use, by its own arrays and by Spanwise's."""
    if name == "torch":
        return pytest.importorskip("torch").cuda.memory_allocated()
    return pytest.importorskip("cupy").get_default_memory_pool().used_bytes()


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_allocator_may_be_the_pool_of_another_library(gpu, name):
    before = reserved(name)
    values = numbers((256, 1024), "float32", 4)
    with sw.memory.use_allocator(name, gpu):
        a = sw.array(values, device=gpu)
        assert reserved(name) - before == values.nbytes
        with sw.Stream(gpu):
            b = a.T * 2
        total = b.sum(axis=1)
        assert sw.memory.stats(gpu)["allocator"] == name
    np.testing.assert_array_equal(b.numpy(), values.T * 2)
    np.testing.assert_allclose(total.numpy(), (values.T * 2).sum(axis=1), rtol=1e-5)
    del a, b, total
    sw.synchronize(gpu)
    assert reserved(name) == before


def test_allocator_may_be_rmms(gpu, monkeypatch):
    """RMM's classes are replaced by fakes that allocate from Spanwise's own pool."""
    requests = []  # (size, handle of the stream)

    class Buffer:
        def __init__(self, size, stream):
            requests.append((size, stream.handle))
            with sw.memory.use_allocator(None, gpu):
                self.memory = sw.empty(size, "uint8", device=gpu)
            self.ptr = self.memory.ptr

    class RmmStream:
        def __init__(self, stream):
            _, self.handle = stream.__cuda_stream__()

    streams = types.ModuleType("rmm.pylibrmm.stream")
    streams.Stream = RmmStream
    rmm = types.ModuleType("rmm")
    rmm.DeviceBuffer = Buffer
    for name, module in (
        ("rmm", rmm),
        ("rmm.pylibrmm", types.ModuleType("rmm.pylibrmm")),
        ("rmm.pylibrmm.stream", streams),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    with sw.memory.use_allocator("rmm", gpu):
        a = sw.ones(1000, "float32", device=gpu)
    assert requests == [(4000, int(sw.current_stream(gpu)))]
    assert float(a.sum()) == 1000
