# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two workers with one GPU each, as `dask cuda worker` starts them."""

import numpy as np
import pytest

import spanwise as sw
from spanwise.collectives import _native

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import spanwise.dask  # noqa: E402


@pytest.fixture(scope="module")
def client(two_gpus):
    workers = {
        number: {
            "cls": distributed.Nanny,
            "options": {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": str(number)}},
        }
        for number in range(len(two_gpus))
    }
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0"}}
    with (
        distributed.SpecCluster(workers=workers, scheduler=scheduler) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


def visible_gpus():
    """The number of GPUs that a worker sees, and the variable that selects them."""
    import os

    kinds = [device.kind for device in sw.devices()]
    return kinds.count("cuda"), os.environ["CUDA_VISIBLE_DEVICES"]


def test_each_worker_sees_its_gpu(client):
    assert sorted(client.run(visible_gpus).values()) == [(1, "0"), (1, "1")]


def test_chunks_of_two_gpus_are_joined(client):
    host = np.random.default_rng(5).uniform(-1, 1, (200, 300)).astype("float32")
    workers = sorted(client.scheduler_info()["workers"])
    halves = [
        client.persist(da.from_array(half, chunks=(50, 50)).to_backend("spanwise"), workers=worker)
        for half, worker in zip(np.split(host, 2, axis=1), workers, strict=True)
    ]
    x = da.concatenate(halves, axis=1)
    product = (x @ x.T + 1).rechunk((200, 70)).sum(axis=0).compute()
    assert type(product) is sw.Array and product.device.kind == "cuda"
    expected = (host.astype("float64") @ host.T + 1).sum(axis=0)
    np.testing.assert_allclose(product.numpy(), expected, rtol=1e-4, atol=1e-3)


def summed(rank):
    from spanwise import collectives

    with collectives.init("nccl", store=rank, device="cuda:0", timeout=60) as comm:
        total = collectives.all_reduce(sw.arange(3.0, device="cuda:0") + comm.rank, comm)
        return comm.engine, total.tolist()


def test_all_reduce_between_the_gpus_of_workers(client):
    if reason := _native.why_no_engine("nccl"):
        pytest.skip(reason)
    assert spanwise.dask.run_ranks(client, summed) == [("nccl", [1.0, 3.0, 5.0])] * 2
