# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two worker processes: kernels travel, chunks spill, lost chunks are computed again."""

import os
import signal
import subprocess

import numpy as np
import pytest
from addons.dask.cluster import cluster

import spanwise as sw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import spanwise.dask  # noqa: E402

# ---- Kernels and functions ----

SOURCE = """
extern "C" __global__ void doubled(const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
"""


def launched(kernel, x):
    y = sw.empty_like(x)
    kernel(x, y, x.size, block=x.size)
    return y


def called(launcher, x):
    y = sw.empty_like(x)
    launcher(x, y, x.size)
    return y


def library_launcher(folder):
    """The launcher of a shared library that is compiled in `folder`."""
    (folder / "doubled.cpp").write_text(
        'extern "C" void doubled(const float *x, float *y, int n)'
        "{ for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"
    )
    library = folder / "libdoubled.so"
    command = ["c++", "-shared", "-fPIC", "-o", library, folder / "doubled.cpp"]
    subprocess.run(command, check=True, timeout=60)
    return sw.HostLibrary(library).launcher("doubled", "const float*, float*, int")


def kernels_of_all_kinds(folder):
    """name of the kind -> a function that doubles a chunk by a kernel of that kind."""
    module = sw.SourceModule(SOURCE)
    kernel = module.get_function("doubled")
    bound = kernel.bind(args=["contiguous const float32*", "contiguous float32*", "int32"])
    v = sw.tensor.fvector("v")
    op = sw.kernel_op(
        "doubled",
        SOURCE.replace('extern "C" ', ""),
        inputs="x: contiguous float32[n]",
        outputs="y: contiguous float32[n]",
    )
    total = sw.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    scan = sw.InclusiveScanKernel("float32", "a + b")
    launcher = library_launcher(folder)
    return {
        "module": lambda x: launched(module.get_function("doubled"), x),
        "kernel": lambda x: launched(kernel, x),
        "bound": lambda x: launched(bound, x),
        "elementwise": sw.ElementwiseKernel("T x", "T y", "y = 2 * x", "doubled"),
        "function": sw.function([v], v * 2),
        "kernel op": sw.function([v], op(v)),
        "reduction and scan": lambda x: 2 * (x + 0 * total(x) + 0 * scan(x, "new")),
        "launcher": lambda x: called(launcher, x),
    }


def test_map_blocks_runs_every_kind_of_kernel(client, tmp_path):
    host = np.arange(64, dtype="float32")
    x = da.from_array(host, chunks=16).to_backend("spanwise")
    results = {
        name: x.map_blocks(f, dtype="float32", meta=x._meta)
        for name, f in kernels_of_all_kinds(tmp_path).items()
        if name != "launcher" or sw.device().kind == "cpu"
    }
    for name, result in zip(
        results, client.gather(client.compute(list(results.values()))), strict=True
    ):
        assert type(result) is sw.Array, name
        assert result.tolist() == (2 * host).tolist(), name


def test_chunks_are_passed_between_workers(client):
    host = np.arange(10000.0).reshape(100, 100)
    workers = sorted(client.scheduler_info()["workers"])
    halves = [
        client.persist(da.from_array(half, chunks=(20, 50)).to_backend("spanwise"), workers=worker)
        for half, worker in zip(np.split(host, 2, axis=1), workers, strict=True)
    ]
    x = da.concatenate(halves, axis=1)
    product = (x @ x.T).rechunk((100, 30)).sum(axis=0).compute()
    assert type(product) is sw.Array
    np.testing.assert_allclose(product.numpy(), (host @ host.T).sum(axis=0))
    for half, worker in zip(halves, workers, strict=True):
        assert worker in {w for holders in client.who_has(half).values() for w in holders}


def test_serialized_arrays_keep_their_strides():
    from distributed.protocol import deserialize, serialize

    x = sw.arange(12, dtype="float32", device="cpu").reshape(3, 4).T
    repeated = sw.broadcast_to(sw.arange(3, device="cpu"), (1000, 3))
    for array in (x, repeated):
        header, frames = serialize(array, serializers=("cuda", "dask", "pickle"))
        assert header["serializer"] == "pickle"
        again = deserialize(header, frames)
        assert again.tolist() == array.tolist() and again.strides == array.strides
    # Of the broadcast array one row is serialized and not 1000.
    assert sum(memoryview(frame).nbytes for frame in frames) < 1500


@pytest.mark.parametrize(
    "x",
    [
        sw.arange(12, dtype="float32").reshape(3, 4),
        sw.arange(12, dtype="float32").reshape(3, 4).T,
        sw.arange(12, dtype="int16")[::-2],
        sw.arange(3) > 1,
        sw.full((), 7.0),
        sw.zeros((0, 3)),
        sw.broadcast_to(sw.arange(3), (2, 3)),
    ],
    ids=str,
)
def test_gpu_array_is_serialized_as_one_device_frame(x):
    """The frame is one contiguous piece of device memory; deserialized arrays share it."""
    from spanwise.dask._backend import cuda_deserialize, packed

    header, frame = packed(x)
    assert frame.ndim == 1 and frame.dtype == "uint8" and frame.nbytes == x.nbytes
    again = cuda_deserialize(header, [frame])
    assert again.tolist() == x.tolist() and again.dtype == x.dtype and again.shape == x.shape
    assert again.ptr == frame.ptr and again.flags.writeable == x.flags.writeable


# ---- Memory limits and lost workers ----


def spilled_bytes(dask_worker):
    return dask_worker.data.spilled_total.memory


def test_chunks_are_spilled_under_a_memory_limit(tmp_path):
    options = {
        "distributed.worker.memory.target": 0.05,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(options),
        cluster(memory_limit="400MB", local_directory=str(tmp_path)) as local_cluster,
        distributed.Client(local_cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        x = (da.arange(10**7, chunks=10**6, dtype="float64").to_backend("spanwise") + 1).persist()
        distributed.wait(x, timeout=60)
        # Of 80 MB the two workers keep about 5% of 400 MB each.
        assert sum(client.run(spilled_bytes).values()) > 30_000_000
        assert x.sum().compute().item() == 10**7 * (10**7 + 1) / 2


def test_chunks_of_a_killed_worker_are_computed_again():
    with cluster(memory_limit=0) as local_cluster, distributed.Client(local_cluster) as client:
        client.wait_for_workers(2, timeout=60)
        x = (da.arange(4000, chunks=100).to_backend("spanwise") * 2).persist()
        distributed.wait(x, timeout=60)
        pids = client.run(os.getpid)
        victim = sorted(pids)[0]
        assert any(victim in workers for workers in client.who_has(x).values())
        os.kill(pids[victim], signal.SIGKILL)
        total = client.compute(x.sum()).result(timeout=60)
        assert type(total) is sw.Array and total.item() == 3999 * 4000
