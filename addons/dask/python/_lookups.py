# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers spanwise.Array with the functions that dask.array selects by the type of a chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.array import backends, dispatch
from dask.array.percentile import _percentile
from dask.sizeof import sizeof

import spanwise as sw
from spanwise._dask_sizeof import size_of_array


def to_spanwise(chunk: Any) -> sw.Array:
    """A chunk as an array of this process's default device; shares memory where it can.

    Raises TypeError for a dtype without counterpart, such as objects, text and dates.
    """
    if isinstance(chunk, sw.Array):
        return chunk
    try:
        return sw.asarray(np.asarray(chunk), device=sw.device())
    except (sw.DTypeError, sw.BridgeError) as error:
        raise TypeError(
            f'to_backend("spanwise"): expected chunks of numbers, got dtype {chunk.dtype}: {error}'
        ) from None


def _einsum(*operands: Any, order: Any = None, casting: Any = None, **options: Any) -> sw.Array:
    return np.einsum(*operands, **options)


def _divide(a: Any, b: Any, out: Any = None, dtype: Any = None) -> Any:
    return np.divide(a, b, out=out, dtype=dtype)


def _chunk_percentile(a: sw.Array, q: Any, method: str = "linear") -> tuple[Any, int]:
    """The percentiles of a chunk as a NumPy array: Dask merges those of all chunks on the host."""
    values, count = _percentile(a, q, method)
    return (values.numpy() if isinstance(values, sw.Array) else values), count


da.register_chunk_type(sw.Array)
sizeof.register(sw.Array, size_of_array)
dispatch.concatenate_lookup.register(sw.Array, np.concatenate)
dispatch.take_lookup.register(sw.Array, np.take)
dispatch.tensordot_lookup.register(sw.Array, np.tensordot)
dispatch.einsum_lookup.register(sw.Array, _einsum)
dispatch.empty_lookup.register(sw.Array, sw.empty)
dispatch.divide_lookup.register(sw.Array, _divide)
dispatch.percentile_lookup.register(sw.Array, _chunk_percentile)
dispatch.numel_lookup.register(sw.Array, backends._numel_arraylike)
dispatch.nannumel_lookup.register(sw.Array, backends._nannumel)
dispatch.to_numpy_dispatch.register(sw.Array, lambda chunk, **_: chunk.numpy())
