# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.gpuarray``. Functions work for all strides and broadcast as NumPy's."""

import warnings

import numpy as np

import spanwise as sw
from spanwise.driver import order_of

from ._array import ArrayFlags, GPUArray, device_array, packed_like, splay, to_gpu
from ._devices import mem_alloc, on_stream
from ._types import vec
from ._unsupported import module_getattr

__all__ = [
    "ArrayFlags", "GPUArray", "all", "any", "arange", "concatenate", "dot", "empty", "empty_like",
    "if_positive", "logical_and", "logical_not", "logical_or", "max", "maximum", "min", "minimum",
    "multi_put", "multi_take", "multi_take_put", "ones", "ones_like", "reshape", "splay", "stack",
    "subset_dot", "subset_max", "subset_min", "subset_sum", "sum", "take", "to_gpu",
    "to_gpu_async", "transpose", "vec", "where", "zeros", "zeros_like",
]  # fmt: skip


def take(a, indices, out=None, stream=None):
    """The elements of `a`, taken as one axis, with these indices, written to `out`, of equal size and
    dtype, if it is given. Raises IndexError."""
    with on_stream(stream):
        taken = sw.take(device_array(a.ravel()), device_array(indices))
        if out is None:
            return GPUArray.of(taken, a)
        sw.copyto(device_array(out), taken.reshape(device_array(out).shape))
        return out


def _outputs(arrays, out, dest_shape, caller):
    """`out`, or a new array of `dest_shape` for each of `arrays`."""
    if out is None:
        return [GPUArray(dest_shape, x.dtype, x.allocator) for x in arrays]
    if len(out) != len(arrays):
        raise ValueError(f"{caller}: expected {len(arrays)} outputs, got {len(out)}")
    return out


def multi_take(arrays, indices, out=None, stream=None):
    """take() from each of several arrays with the same indices, as a list."""
    outputs = _outputs(arrays, out, indices.shape, "multi_take")
    return [take(x, indices, y, stream) for x, y in zip(arrays, outputs, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Outputs in which the elements with `dest_indices` are those of the arrays, as a list."""
    outputs = _outputs(arrays, out, dest_shape, "multi_put")
    with on_stream(stream):
        for x, y in zip(arrays, outputs, strict=True):
            device_array(y.ravel())[device_array(dest_indices)] = device_array(x.ravel())
    return outputs


def multi_take_put(
    arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None
):
    """Outputs in which the elements with `dest_indices` are those of the arrays with `src_indices`
    plus the array's offset, as a list."""
    outputs = _outputs(arrays, out, dest_shape, "multi_take_put")
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    with on_stream(stream):
        for x, y, offset in zip(arrays, outputs, offsets, strict=True):
            indices = device_array(src_indices) + int(offset)
            device_array(y.ravel())[device_array(dest_indices)] = sw.take(
                device_array(x.ravel()), indices
            )
    return outputs


empty = GPUArray


def to_gpu_async(ary, allocator=mem_alloc, stream=None):
    """As to_gpu, on `stream`."""
    return to_gpu(ary, allocator, stream)


def zeros(shape, dtype=np.float64, allocator=mem_alloc, order="C"):
    """An array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(np.zeros((), dtype))


def ones(shape, dtype=np.float64, allocator=mem_alloc, order="C"):
    """An array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(np.ones((), dtype))


def empty_like(other_ary, dtype=None, order="K"):
    """An uninitialised array with the shape of another. Order "A" is Fortran's if the other array is
    Fortran contiguous, "K" the other's order of axes."""
    dtype = other_ary.dtype if dtype is None else np.dtype(dtype)
    allocator = getattr(other_ary, "allocator", mem_alloc)
    if order == "K":
        strides = packed_like(other_ary, dtype)
        return GPUArray(other_ary.shape, dtype, allocator, strides=strides)
    if order == "A":
        order = order_of(other_ary)
    return GPUArray(other_ary.shape, dtype, allocator, order=order)


def zeros_like(other_ary, dtype=None, order="K"):
    """As empty_like, filled with zeros."""
    out = empty_like(other_ary, dtype, order)
    return out.fill(np.zeros((), out.dtype))


def ones_like(other_ary, dtype=None, order="K"):
    """As empty_like, filled with ones."""
    out = empty_like(other_ary, dtype, order)
    return out.fill(np.ones((), out.dtype))


def arange(*args, dtype=None, stream=None, **limits):
    """Numbers from start (0) to stop in steps (1): arange([start,] stop[, step][, dtype])."""
    if args and isinstance(args[-1], np.dtype):
        args, dtype = args[:-1], args[-1]
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    positional = dict(zip(names, args, strict=False))
    unknown = {**positional, **limits}
    start, stop, step = unknown.pop("start", 0), unknown.pop("stop", None), unknown.pop("step", 1)
    if stop is None or unknown or len(args) > 3 or positional.keys() & limits.keys():
        raise ValueError(f"arange: expected [start,] stop[, step], got {args} and {limits}")
    if dtype is None:
        dtype = np.array([start, stop, step]).dtype
        if dtype != np.float32:
            warnings.warn(f"arange: the dtype is {dtype}; pass dtype= to choose it", stacklevel=2)
    kind = np.dtype(dtype).type
    count = np.maximum(np.ceil((kind(stop) - kind(start)) / kind(step)), 0)
    with on_stream(stream):
        steps = sw.arange(int(count), dtype="int64")
        return GPUArray.of((steps * kind(step).item() + kind(start).item()).astype(np.dtype(dtype)))


_allocated = GPUArray._allocated


def _value(x):
    return x.array if isinstance(x, GPUArray) else x


def _out_or_result(result, out):
    """`result` as a GPUArray, converted to the dtype of `out` and in its memory if it is given."""
    if out is None:
        return GPUArray.of(sw.asarray(result))
    device_array(out)[...] = sw.asarray(result).astype(out.dtype)
    return out


def concatenate(arrays, axis=0, allocator=None):
    """Joins arrays along an axis. Raises ValueError for shapes that differ on another axis."""
    return _allocated(
        sw.concatenate([device_array(x) for x in arrays], axis=axis), arrays[0], allocator
    )


def stack(arrays, axis=0, allocator=None):
    """Joins arrays of one shape along a new axis."""
    return _allocated(sw.stack([device_array(x) for x in arrays], axis=axis), arrays[0], allocator)


def transpose(a, axes=None):
    """A view with permuted axes, reversed by default."""
    return a.transpose(axes)


def reshape(a, *shape, **kwargs):
    """A view with another shape; see GPUArray.reshape."""
    return a.reshape(*shape, **kwargs)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where `criterion` > 0, else of `else_`."""
    with on_stream(stream):
        return _out_or_result(
            sw.where(device_array(criterion) > 0, _value(then_), _value(else_)), out
        )


def where(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where `criterion` is not 0, else of `else_`."""
    with on_stream(stream):
        return _out_or_result(
            sw.where(device_array(criterion) != 0, _value(then_), _value(else_)), out
        )


def minimum(a, b, out=None, stream=None):
    """The smaller elements of two arrays, or of an array and a number, which is converted to the
    array's dtype."""
    with on_stream(stream):
        return _out_or_result(sw.minimum(_value(a), _value(b)), out)


def maximum(a, b, out=None, stream=None):
    """The larger elements; see minimum."""
    with on_stream(stream):
        return _out_or_result(sw.maximum(_value(a), _value(b)), out)


def _reduced(function, a, stream, allocator, **arguments):
    with on_stream(stream):
        return _allocated(function(device_array(a), **arguments), a, allocator)


def sum(a, dtype=None, stream=None, allocator=None):
    """The sum of all elements in `dtype`, by default the array's, as an array without axes."""
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    return _reduced(sw.sum, a, stream, allocator, dtype=dtype)


def any(a, stream=None, allocator=None):
    """Whether an element is not 0, as an array without axes."""
    return a.any(stream, allocator)


def all(a, stream=None, allocator=None):
    """Whether no element is 0, as an array without axes."""
    return a.all(stream, allocator)


def min(a, stream=None):
    """The smallest element, as an array without axes."""
    return _reduced(sw.min, a, stream, None)


def max(a, stream=None):
    """The largest element, as an array without axes."""
    return _reduced(sw.max, a, stream, None)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """The sum of the products of all elements, as an array without axes."""
    dtype = np.result_type(a.dtype, b.dtype) if dtype is None else np.dtype(dtype)
    with on_stream(stream):
        x, y = (device_array(operand) for operand in (a, b))
        if a.flags.f_contiguous and b.flags.f_contiguous:
            x, y = x.T, y.T  # reshape() copies nothing
        x, y = (array.astype(dtype).reshape(-1) for array in (x, y))
        return _allocated(sw.dot(x, y), a, allocator)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """The sum of the elements with the indices `subset`."""
    return sum(take(a, subset, stream=stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """dot() of the elements with the indices `subset`."""
    x, y = (take(operand, subset, stream=stream) for operand in (a, b))
    return dot(x, y, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """The smallest of the elements with the indices `subset`."""
    return min(take(a, subset, stream=stream), stream)


def subset_max(subset, a, stream=None):
    """The largest of the elements with the indices `subset`."""
    return max(take(a, subset, stream=stream), stream)


def _logical(function, operands, out, allocator):
    like = next((x for x in operands if isinstance(x, GPUArray)), None)
    result = sw.asarray(function(*(sw.asarray(_value(x)) for x in operands)))
    return _allocated(result, like, allocator) if out is None else _out_or_result(result, out)


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Whether both elements are not 0, as bool."""
    return _logical(sw.logical_and, (x1, x2), out, allocator)


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Whether one of the elements is not 0, as bool."""
    return _logical(sw.logical_or, (x1, x2), out, allocator)


def logical_not(x, /, out=None, *, allocator=None):
    """Whether the element is 0, as bool."""
    return _logical(sw.logical_not, (x,), out, allocator)


__getattr__ = module_getattr("pycuda.gpuarray", __name__)
