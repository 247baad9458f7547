# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The cluster that Dask's tests of one module share."""

import pytest
from addons.dask.cluster import cluster


@pytest.fixture(scope="module")
def client():
    """A client of two workers that the tests of a module share."""
    distributed = pytest.importorskip("distributed")
    with cluster(memory_limit=0) as local_cluster, distributed.Client(local_cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
