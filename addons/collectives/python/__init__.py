# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Collective operations between processes (ranks), on arrays and in graphs.

Launchers start the ranks: ``torchrun``, ``mpiexec`` or ``spanwise.dask.run_ranks``. ``init()``
connects them; NCCL (GPUs), MPI or PyTorch's Gloo (CPU) moves the data::

    from spanwise import collectives as C
    comm = C.init()
    total = C.all_reduce(x, comm)

Packages: ``pip install 'spanwise[mpi]'``, ``'spanwise[nccl-cu13]'`` or ``'spanwise[nccl-cu12]'``.
docs/concepts/collectives.md describes order, streams, dtypes and errors.
"""

from spanwise import CollectiveError as CollectiveError

from ._communicator import (
    Communicator as Communicator,
    all_gather as all_gather,
    all_reduce as all_reduce,
    all_to_all as all_to_all,
    barrier as barrier,
    broadcast as broadcast,
    default as default,
    group as group,
    init as init,
    named as named,
    recv as recv,
    reduce as reduce,
    reduce_scatter as reduce_scatter,
    send as send,
)
from ._monitor import own_address as own_address
