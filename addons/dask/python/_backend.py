# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.Array as a chunk of dask.array: the functions that Dask selects by the type of a chunk, the
backend "spanwise" with its random numbers, and the serialization of GPU arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import backends, dispatch
from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch
from dask.array.percentile import _percentile
from dask.sizeof import sizeof

import spanwise as sw
from spanwise._dask_sizeof import size_of_array

# ---- Functions that dask.array selects by the type of a chunk ----


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


# ---- Random numbers: each chunk has its own generator ----


def _on_host(draw: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's method `draw`, with the numbers moved to the default device."""

    def draw_and_move(*args: Any, **options: Any) -> Any:
        return sw.asarray(np.asarray(draw(*args, **options)), device=sw.device())

    return draw_and_move


class BitGenerator(sw.random.Generator):
    """The generator behind da.random.default_rng(seed) with the backend "spanwise".

    `seed` is None, an integer, a sequence of integers or a numpy.random.SeedSequence, which Dask
    spawns for the chunks. Distributions that spanwise.random lacks are drawn by NumPy on the host
    from the same seed and moved to the default device; AttributeError if NumPy lacks them too.
    """

    def __init__(self, seed: Any = None) -> None:
        is_sequence = isinstance(seed, np.random.SeedSequence)
        self._seed_seq = seed if is_sequence else np.random.SeedSequence(seed)
        super().__init__(self._seed_seq)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _on_host(getattr(np.random.default_rng(self._seed_seq), name))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._seed_seq,)


class RandomState:
    """numpy.random.RandomState's methods for da.random.RandomState and the functions of da.random.

    `seed` is None, an integer or an array of integers. random_sample, standard_normal, normal,
    uniform, exponential, standard_exponential and randint are drawn by spanwise.random on the
    default device; the others are drawn by NumPy on the host and moved there.
    """

    #: Method of RandomState -> method of spanwise.random.Generator.
    _BY_SPANWISE = {
        "random_sample": "random",
        "randint": "integers",
        **{name: name for name in ("standard_normal", "normal", "uniform")},
        **{name: name for name in ("exponential", "standard_exponential")},
    }

    def __init__(self, seed: Any = None) -> None:
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._BY_SPANWISE:
            return getattr(sw.random.default_rng(self._seed), self._BY_SPANWISE[name])
        return _on_host(getattr(np.random.RandomState(self._seed), name))


# ---- The backend "spanwise": creation functions, random numbers and to_backend() ----


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


# ---- The serialization family "cuda" of distributed, for communication that moves device memory ----
# Other communication and spilling use the array's pickle, whose bytes travel out of band and without
# a copy on the CPU: distributed falls back to it for types without a "dask" serializer. It needs no
# registration on the receiver, and keeps strides, broadcast axes and the read-only flag.


#: cudaStreamLegacy of the CUDA runtime API: the only stream that distributed's UCX code waits for.
_LEGACY_STREAM = 1


def cuda_serialize(x: sw.Array) -> tuple[dict[str, Any], list[sw.Array]]:
    """(header, [the elements in C order as uint8 on the GPU]). The legacy default stream waits for
    all work queued on the array. Raises NotImplementedError for an array of the CPU, so that
    distributed takes the next family."""
    if x.device.kind == "cpu":
        raise NotImplementedError("cuda_serialize: the array is on the CPU; it is pickled")
    header, frame = packed(x)
    sw.Stream.foreign(_LEGACY_STREAM, x.device).wait(frame)
    return header, [frame]


def packed(x: sw.Array) -> tuple[dict[str, Any], sw.Array]:
    """The header, and the elements in C order as uint8 on the array's device: the memory of `x`
    itself where it is C-contiguous."""
    header = {"shape": x.shape, "dtype": x.dtype.name, "readonly": not x.flags.writeable}
    contiguous = x if x.flags.c_contiguous else x.copy()
    return header, contiguous.reshape(-1).view("uint8")


def cuda_deserialize(header: dict[str, Any], frames: list[Any]) -> sw.Array:
    """The array over the memory of its frame, which it keeps alive."""
    flat = sw.asarray(frames[0], copy=False).view(header["dtype"])
    array = flat.reshape(tuple(header["shape"]))
    if header["readonly"]:
        array.flags.writeable = False
    return array


try:
    from distributed.protocol import cuda
except ImportError:  # dask alone, without clusters
    pass
else:
    cuda.cuda_serialize.register(sw.Array, cuda_serialize)
    cuda.cuda_deserialize.register(sw.Array, cuda_deserialize)
