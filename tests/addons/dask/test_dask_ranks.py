# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""run_ranks: one rank on each worker; all ranks begin and end together."""

import os
import signal
import time
from pathlib import Path

import pytest
from addons.dask.cluster import cluster

distributed = pytest.importorskip("distributed")

import spanwise.dask  # noqa: E402


def rank_and_process(rank, base):
    return rank.rank, rank.size, base + rank.rank, os.getpid()


def test_each_worker_runs_one_rank(client):
    results = spanwise.dask.run_ranks(client, rank_and_process, 10)
    assert [result[:3] for result in results] == [(0, 2, 10), (1, 2, 11)]
    assert len({result[3] for result in results}) == 2


def failing(rank, folder):
    Path(folder, f"begun{rank.rank}").touch()
    if rank.rank == 1:
        while not Path(folder, "begun0").exists():
            time.sleep(0.01)
        raise ValueError("no such field")
    try:
        while True:
            time.sleep(0.01)
    finally:
        Path(folder, "ended0").touch()


def exists_within(file, seconds=20):
    deadline = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return file.exists()


def test_first_error_cancels_all_ranks(client, tmp_path):
    with pytest.raises(spanwise.dask.RankError, match=r"rank 1 of 2 on tcp.*ValueError: no such"):
        spanwise.dask.run_ranks(client, failing, str(tmp_path))
    assert exists_within(tmp_path / "ended0")
    # The workers are free again.
    assert len(spanwise.dask.run_ranks(client, rank_and_process, 0)) == 2


def dying(rank, folder):
    if rank.rank == 0:
        return failing(rank, folder)
    while not Path(folder, "begun0").exists():
        time.sleep(0.01)
    return os.kill(os.getpid(), signal.SIGKILL)


def test_lost_worker_cancels_all_ranks(tmp_path):
    with cluster(memory_limit=0) as local_cluster, distributed.Client(local_cluster) as client:
        client.wait_for_workers(2, timeout=60)
        start = time.monotonic()
        with pytest.raises(spanwise.dask.RankError, match="rank 1 of 2 lost its worker tcp"):
            spanwise.dask.run_ranks(client, dying, str(tmp_path))
        assert exists_within(tmp_path / "ended0")
        assert time.monotonic() - start < 30


def test_unsuitable_client_raises():
    with pytest.raises(TypeError, match="expected a synchronous distributed.Client, got 'tcp"):
        spanwise.dask.run_ranks("tcp://head:8786", rank_and_process, 0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as local_cluster,
        distributed.Client(local_cluster) as client,
        pytest.raises(ValueError, match="expected a cluster with workers, got none"),
    ):
        spanwise.dask.run_ranks(client, rank_and_process, 0)
