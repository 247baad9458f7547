# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of arrays by their indices in memory: PyCUDA's take and put functions."""

import spanwise as sw

from ._array import GPUArray
from ._memory import on_stream


def take(a, indices, out=None, stream=None):
    """The elements of `a`, taken as one axis, with these indices. Raises IndexError."""
    with on_stream(stream):
        return _into(out, sw.take(a.ravel().array, indices.array), a)


def _into(out, result, like):
    if out is None:
        return GPUArray.of(result, like)
    sw.copyto(out.array, result.reshape(out.array.shape))
    return out


def _outputs(arrays, out, dest_shape, who):
    if out is None:
        return [GPUArray(dest_shape, x.dtype, x.allocator) for x in arrays]
    if len(out) != len(arrays):
        raise ValueError(f"{who}: expected {len(arrays)} outputs, got {len(out)}")
    return out


def multi_take(arrays, indices, out=None, stream=None):
    """take() from each of several arrays with the same indices, as a list."""
    outputs = _outputs(arrays, out, indices.shape, "multi_take")
    return [take(x, indices, o, stream) for x, o in zip(arrays, outputs, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Outputs in which the elements with `dest_indices` are those of the arrays, as a list."""
    outputs = _outputs(arrays, out, dest_shape, "multi_put")
    with on_stream(stream):
        for x, o in zip(arrays, outputs, strict=True):
            o.ravel().array[dest_indices.array] = x.ravel().array
    return outputs


def multi_take_put(
    arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None
):
    """Outputs in which the elements with `dest_indices` are those of the arrays with `src_indices`
    plus the array's offset, as a list."""
    outputs = _outputs(arrays, out, dest_shape, "multi_take_put")
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    with on_stream(stream):
        for x, o, offset in zip(arrays, outputs, offsets, strict=True):
            indices = src_indices.array + int(offset)
            o.ravel().array[dest_indices.array] = sw.take(x.ravel().array, indices)
    return outputs
