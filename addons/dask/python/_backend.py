# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The backend "spanwise" of dask.array: creation functions, random numbers and to_backend()."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch

import spanwise as sw

from ._lookups import to_spanwise
from ._random import BitGenerator, RandomState


def _create(name: str, *args: Any, meta: Any = None, **options: Any) -> da.Array:
    """dask.array's function `name` with chunks of Spanwise, which the workers allocate."""
    meta = sw.empty((), dtype=options.get("dtype")) if meta is None else meta
    # With the backend "spanwise", da.<name> would call this function again.
    with dask.config.set({"array.backend": "numpy"}):
        return getattr(da, name)(*args, meta=meta, **options)


class SpanwiseBackend(ArrayBackendEntrypoint):
    """Makes Dask arrays whose chunks are spanwise.Array on the default device of each worker.

    ``dask.config.set({"array.backend": "spanwise"})`` selects it for da.ones, da.zeros, da.empty,
    da.full, da.arange and da.random; ``x.to_backend("spanwise")`` converts an array, and
    ``x.to_backend("numpy")`` converts it back. The metadata on the client is an empty array on the
    client's own default device: on the CPU where the client has no GPU.
    """

    @classmethod
    def to_backend_dispatch(cls) -> Any:
        return to_spanwise

    @classmethod
    def to_backend(cls, data: da.Array, **options: Any) -> da.Array:
        """`data` with its chunks converted. Raises TypeError for a dtype that Spanwise lacks."""
        if isinstance(data._meta, sw.Array):
            return data
        meta = to_spanwise(np.empty((0,) * data.ndim, data.dtype))
        return data.map_blocks(to_spanwise, dtype=data.dtype, meta=meta, **options)

    @property
    def RandomState(self) -> type[RandomState]:  # noqa: N802 - Dask's name
        return RandomState

    @property
    def default_bit_generator(self) -> type[BitGenerator]:
        return BitGenerator

    ones, zeros, empty, full = (
        staticmethod(partial(_create, name)) for name in ("ones", "zeros", "empty", "full")
    )

    @staticmethod
    def arange(*args: Any, like: Any = None, **options: Any) -> da.Array:
        like = sw.empty(()) if like is None else like
        with dask.config.set({"array.backend": "numpy"}):
            return da.arange(*args, like=like, **options)


array_creation_dispatch.register_backend("spanwise", SpanwiseBackend())
