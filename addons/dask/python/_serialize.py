# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The serialization family "cuda" of distributed, for communication that moves device memory.

Other communication and spilling use the array's pickle, whose bytes travel out of band and without
a copy on the CPU: distributed falls back to it for types without a "dask" serializer. It needs no
registration on the receiver, and keeps strides, broadcast axes and the read-only flag.
"""

from __future__ import annotations

from typing import Any

import spanwise as sw

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
