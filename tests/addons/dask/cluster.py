# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two worker processes of distributed on this machine."""


def cluster(**options):
    """A LocalCluster, a context manager; `options` are those of its class."""
    import distributed

    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        **options,
    )
