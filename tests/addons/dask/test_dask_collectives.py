# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.collectives between the ranks of run_ranks."""

import importlib.util

import pytest

distributed = pytest.importorskip("distributed")

import spanwise.dask  # noqa: E402


def squares_by_monitor(rank):
    """The number of ranks, and the value that each of them sent by the monitor's exchange."""
    from spanwise.collectives._monitor import Monitor
    from spanwise.collectives._stores import connect

    link = connect(rank, None, None, 20)
    monitor = Monitor(link, "tested", [0, 1], 20)
    values = monitor.exchange("init", "square", (link.rank + 2) ** 2)
    monitor.disconnect()
    link.close("it has closed its communicators")
    return link.size, values


def test_ranks_find_each_other_by_the_scheduler(client):
    for _ in range(2):  # each call makes a new store
        assert spanwise.dask.run_ranks(client, squares_by_monitor) == [(2, [4, 9])] * 2


def summed(rank):
    import spanwise as sw
    from spanwise import collectives

    with collectives.init("torch", store=rank, device="cpu", timeout=30) as comm:
        total = collectives.all_reduce(sw.arange(3.0, device="cpu") + comm.rank, comm)
        return total.tolist()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs the package torch")
def test_all_reduce_between_workers(client):
    assert spanwise.dask.run_ranks(client, summed) == [[1.0, 3.0, 5.0]] * 2
