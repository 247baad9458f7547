# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""The types that the signatures of the extension module lack: names of types, types of parameters by
name, devices, streams and memory, then arrays, kernels and graphs. scripts/make_stubs.py, which
describes this file, writes _core.pyi from it."""

import builtins
import collections.abc
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, SimpleNamespace, TracebackType
from typing import Any, Generic, Literal, NoReturn, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

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
    def __call__(self, *args: Any) -> Any: ...
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

class _Flags:
    aligned = c_contiguous = contiguous = f_contiguous = fnc = forc = owndata = bool
    writeable: bool = ...
    def __getitem__(self, key: str) -> bool: ...

class Array(Generic[_Scalar]):
    def __init__(
        self, x: _ArrayLike, /, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None
    ) -> None: ...
    T = mT = Array[_Scalar]
    __getitem__ = __pos__ = conj = conjugate = copy = flatten = ravel = Array[_Scalar]
    repeat = swapaxes = take = to_device = Array[_Scalar]
    astype = _OfDType
    itemsize = nbytes = ndim = ptr = size = int
    shape = strides = tuple[int, ...]
    device = _Device
    dtype = _DType
    flags = _Flags
    stream = Stream
    __array_priority__ = float
    imag: Array = ...
    real: Array = ...
    def reshape(
        self,
        *shape: SupportsIndex | Sequence[SupportsIndex],
        order: Literal["C", "F", "A"] = "C",
        copy: bool | None = None,
    ) -> Array[_Scalar]: ...
    def transpose(
        self, *axes: SupportsIndex | Sequence[SupportsIndex] | None
    ) -> Array[_Scalar]: ...
    def squeeze(self, axis: _ShapeLike | None) -> Array[_Scalar]: ...
    def fill(self, value: _ArrayLike) -> None: ...
    def item(self, *args: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    def __array__(self, dtype: npt.DTypeLike | None) -> npt.NDArray[Any]: ...
    def __array_function__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __contains__(self, key: Any): ...
    def __setitem__(self, value: _ArrayLike) -> None: ...
    nonzero = tuple[Array, ...]
    setflags = put = None
    _repr_html_ = str
    tobytes = bytes
    def get(self, out: npt.NDArray[Any] | None) -> npt.NDArray[_Scalar]: ...
    data_ptr = int
    numpy = npt.NDArray[_Scalar]
    tolist = __array_namespace__ = Any
    __iter__ = Iterator[Array[_Scalar]]
    __divmod__ = __rdivmod__ = tuple[Array, Array]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _Promoted
    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = _Promoted
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _Promoted
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _Promoted
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _Promoted
    __lt__ = __le__ = __gt__ = __ge__ = _Promoted
    __eq__ = __ne__ = Array

def array(copy: bool | None, order: _Order | None) -> _OfDType: ...

arange = asarray = empty = eye = full = ones = zeros = _OfDType

copyto = put = None
may_share_memory = _overrides_ufuncs = bool

def reshape(order: Literal["C", "F", "A"]) -> _Promoted: ...
def _array_from_buffer(arg2: Sequence[int], arg3: Sequence[int] | None): ...

bridges = Bridges
_collective = convert = linspace = to_torch = to_jax = to_cupy = to_numba = to_warp = Any
to_numpy = npt.NDArray[Any]
# Functions that take variables of graphs as well, and then return one.
all = any = argmax = argmin = broadcast_to = concatenate = count_nonzero = cumprod = cumsum = (
    _Promoted
)
dot = matmul = max = mean = min = nansum = prod = ptp = stack = std = sum = _Promoted
take = var = _Promoted
to_tensorflow = to_pycuda = to_gpuarray = to_cudamat = to_gnumpy = to_garray = Any
_bridge_rows = _kernel_op_counts = list[dict[str, Any]]

class ufunc:
    nargs = nin = nout = int
    types = list[str]
    __name__ = __qualname__ = str
    def __call__(
        self,
        x1: Any,
        x2: Any = ...,
        /,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> _Promoted: ...
    at = None

nonzero = tuple[Array, ...]

def put_along_axis(axis: SupportsIndex | None) -> None: ...
def _random_counter(key: int, stream: int, position: int) -> Any: ...

_random_position = int

class KernelParameter:
    dtype: dtype | None

@final
class KernelFunction:
    const_size_bytes = local_size_bytes = shared_size_bytes = int
    handle = max_threads_per_block = num_regs = int
    attributes = KernelAttributes
    device = _Device
    name = str
    parameters = tuple[KernelParameter, ...]
    def __call__(
        self,
        *args: Any,
        block: _Dim3 = ...,
        grid: _Dim3 = ...,
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
        cluster: _Dim3 = ...,
    ) -> None: ...
    def __getitem__(self, key: tuple[Any, ...]) -> Callable[..., None]: ...
    bind = prepare = KernelFunction
    get_attribute = max_active_blocks = int
    prepared_call = prepared_async_call = set_attribute = set_cache_config = None
    occupancy_block_size = tuple[int, int]
    prepared_timed_call = Callable[[], float]

_outline = tuple[list[tuple[str, int]], list[tuple[str, int, int, str, list[str]]]]
_scan_kernels = list[tuple[str, int, bool, bool, list[KernelParameter]]]

class Module:
    get_function = KernelFunction

class _DriverMemory:
    array: Any = ...
    def __init__(self, array: Array, /) -> None: ...

class _ElementwiseKernel:
    name: str
    def __new__(cls, **spec: Any) -> _ElementwiseKernel: ...
    def __call__(
        self, *args: Any, size: SupportsIndex | None = None, stream: Any = None, out: Any = None
    ) -> Any: ...

class _ReductionKernel:
    name: str
    def __new__(cls, **spec: Any) -> _ReductionKernel: ...
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axis: _Axes | None = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any: ...

class _ScanKernel:
    name: str
    def __new__(cls, **spec: Any) -> _ScanKernel: ...
    def __call__(
        self,
        input: Any,
        output: Any = None,
        allocator: None = None,
        stream: Any = None,
        *,
        axis: SupportsIndex | None = None,
    ) -> Array: ...

class TensorType:
    def __init__(self, shape: Sequence[int | bool | None]): ...
    broadcastable: tuple[bool, ...]
    shape: tuple[int | None, ...]

class Variable:
    T = mT = shape = size = Variable
    broadcastable = tuple[bool, ...]
    dtype = _DType
    index = int | None
    name: str | None = ...
    ndim = int
    owner = Apply | None
    tag = SimpleNamespace
    type = TensorType
    def clone(self, name: str | None = None, /) -> Variable: ...
    def __array__(self) -> NoReturn: ...
    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __getitem__(self, key: Any): ...
    eval = __eq__ = __ne__ = Any
    _repr_html_ = str
    __bool__ = NoReturn
    __iter__ = Iterator[Variable]
    __divmod__ = __rdivmod__ = tuple[Variable, Variable]

class Constant:
    data = value = Array

class SharedVariable:
    default_update: Variable | None = ...
    device: device
    value: NoReturn
    def set_value(self, value: Any) -> None: ...
    get_value = Array

class Apply:
    op: Op
    tag: SimpleNamespace
    def clone_with_new_inputs(self, inputs: Sequence[Variable]): ...

@final
class CompiledFunction:
    device = _Device
    maker = Maker
    mode = name = str
    profile = Profile | None
    repeated_calls = int
    trust_input: bool = ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def copy(self, mode: Any) -> CompiledFunction: ...
    def free(self) -> None: ...
    def _profile_data(self) -> tuple[int, float, float, list[tuple[Apply, int, float, int]]]: ...
    def _profile_spans(self) -> list[tuple[int, float, float]]: ...

def _make_op(arg1: dict[str, Any]) -> Any: ...

_rewrites = list[tuple[str, float, list[str]]]
_gradients = list[Variable | None]
_shared = SharedVariable

def _compile(
    arg0: list[Any], arg11: tuple[Any, ...], arg15: dict[str, Any]
) -> CompiledFunction: ...
def _kernel_op(arg0: dict[str, Any]) -> KernelOp: ...
