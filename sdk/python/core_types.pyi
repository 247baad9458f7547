# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""The types that the signatures of the extension module lack: names of types, types of parameters by
name, devices, streams and memory. array/, kernels/ and graph/ have those of their classes and
functions. scripts/make_stubs.py, which describes these files, writes _core.pyi from them."""

import builtins
import collections.abc
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, SimpleNamespace, TracebackType
from typing import Any, Literal, NoReturn, SupportsIndex, TypeAlias, final

import numpy as np
import numpy.typing as npt

from ._bridges import Bridges
from .graph import KernelOp, Maker, Op
from .profile import Profile

# "float32", spanwise.float32, numpy.float32, numpy.dtype("f4"), float, torch.float32, ...
_DTypeLike: TypeAlias = dtype | str | builtins.type | npt.DTypeLike | Any
# "cpu", "cuda:0", a device of any library, or an array
_DeviceLike: TypeAlias = device | str | Array | Any
_ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
# a number, nested sequences, or any library's array
_ArrayLike: TypeAlias = Array | npt.ArrayLike | Any
# an index array, a boolean mask, or nested lists of either
_IndexArray: TypeAlias = Array | npt.NDArray[Any] | list[Any]
_IndexPart: TypeAlias = SupportsIndex | slice | EllipsisType | _IndexArray | None
_Index: TypeAlias = _IndexPart | tuple[_IndexPart, ...]
_Order: TypeAlias = Literal["C", "F", "A", "K"]
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_BoundsMode: TypeAlias = Literal["raise", "wrap", "clip"]
_AnyStream: TypeAlias = Stream | int | Any
_Axes: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
_Dim3: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
_Paths: TypeAlias = Iterable[str | os.PathLike[str]]
_Bytes: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview
# Names that members of classes hide.
_DType: TypeAlias = dtype
_Device: TypeAlias = device

class parameters:
    end = Event
    link = Iterable[_Bytes]
    side = Literal["left", "right"]
    inputs_to_values = Mapping[Variable, Any]
    op = Op
    inputs = outputs = Sequence[Variable]
    arrays = choices = Sequence[_ArrayLike]
    axis1 = axis2 = num = size = SupportsIndex
    stream = _AnyStream
    a = arr = array = b = condition = dst = fill_value = ind = indices = out = _ArrayLike
    repeats = sorter = src = start = step = stop = v = values = where = x = _ArrayLike
    axis = _Axes
    mode = _BoundsMode
    path_or_bytes = _Bytes
    casting = _Casting
    dtype = _DTypeLike
    device = _DeviceLike
    block = grid = _Dim3
    key = _Index
    order = _Order
    include_dirs = names = options = _Paths
    shape = _ShapeLike
    align = borrow = copy = copyif = delete_updates = endpoint = keep = keepdims = bool
    retstep = return_internal_type = theano_layout = timing = uic = write = bool
    memo = dict[int, Any]
    correction = ddof = float
    M = N = decimals = flags = k = ndim = ndmin = offset = shared = shared_size = int
    api_version = attribute = config = library = name = source = str
    path = str | os.PathLike[str]

class CollectiveError:
    calls: list[str] = ...

@final
class dtype:
    alignment = bits = flags = isbuiltin = itemsize = lanes = ndim = num = int
    byteorder = char = kind = name = str = builtins.str
    hasobject = is_computable = isalignedstruct = isnative = bool
    fields = metadata = names = subdtype = None
    base = _DType
    descr = list[Any]
    dtype = __numpy_dtype__ = np.dtype[Any]
    shape = tuple[()]
    type = builtins.type[np.generic]
    newbyteorder = _DType | np.dtype[Any]
    def __init__(self, x: _DTypeLike, /) -> None: ...

def result_type(args: _ArrayLike | _DTypeLike): ...
def promote_types(type1: _DTypeLike, type2: _DTypeLike): ...
def can_cast(from_: _DTypeLike, casting: _Casting): ...

class DeviceProperties:
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]

@final
class device:
    def __init__(self, x: _DeviceLike | None): ...

class Stream:
    def wait(self, x: Event | Array | _AnyStream): ...
    __cuda_stream__ = tuple[int, int]

_memory_stats = dict[str, Any]

def _memory_source(arg1: Callable[[int, int, int], Any]): ...
def _memory_use(source: _MemorySource | None) -> _MemorySource | None: ...
