# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Spanwise arrays as chunks of dask.array, on one machine or on the workers of a cluster.

Importing it registers the chunk type, the functions that Dask selects by the type of a chunk, the
backend "spanwise" and the serialization of GPU arrays: ``x.to_backend("spanwise")`` moves the
chunks of a Dask array to the default device of each worker, the GPU or else the CPU. Needs the
packages dask and numpy; distributed only for clusters: ``pip install spanwise[dask]``.
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"spanwise.dask: expected the package dask with its arrays, got {error}. Remedy: "
        "pip install 'spanwise[dask]'"
    ) from error

from ._backend import (
    BitGenerator as BitGenerator,
    RandomState as RandomState,
    SpanwiseBackend as SpanwiseBackend,
)
from ._ranks import Rank as Rank, RankError as RankError, run_ranks as run_ranks

__all__ = ["BitGenerator", "RandomState", "Rank", "RankError", "SpanwiseBackend", "run_ranks"]
