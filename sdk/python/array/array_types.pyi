# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""The types that the signatures of arrays and of their functions lack; see ../core_types.pyi."""

class _Flags:
    aligned = c_contiguous = contiguous = f_contiguous = fnc = forc = owndata = bool
    writeable: bool = ...
    def __getitem__(self, key: str) -> bool: ...

class Array:
    def __init__(
        self, x: _ArrayLike, /, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None
    ) -> None: ...
    T = mT = Array
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
    ) -> Array: ...
    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> Array: ...
    def squeeze(self, axis: _ShapeLike | None): ...
    def fill(self, value: _ArrayLike) -> None: ...
    def item(self, *args: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    def conj(self) -> Array: ...
    def conjugate(self) -> Array: ...
    def __array__(self, dtype: npt.DTypeLike | None) -> npt.NDArray[Any]: ...
    def __array_function__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __contains__(self, key: Any): ...
    def __setitem__(self, value: _ArrayLike) -> None: ...
    nonzero = tuple[Array, ...]
    setflags = put = None
    tobytes = bytes
    def get(self, out: npt.NDArray[Any] | None) -> npt.NDArray[Any]: ...
    data_ptr = int
    numpy = npt.NDArray[Any]
    tolist = __array_namespace__ = Any
    __iter__ = Iterator[Array]
    __divmod__ = __rdivmod__ = tuple[Array, Array]
    # The other operand may be a variable of a graph, or implement the operator.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = Any
    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = Any
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = Any
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = Any
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = Any
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = Any

def array(copy: bool | None, order: _Order | None): ...

copyto = put = None
may_share_memory = _overrides_ufuncs = bool

def reshape(order: Literal["C", "F", "A"]): ...
def _array_from_buffer(arg2: Sequence[int], arg3: Sequence[int] | None): ...

bridges = Bridges
_collective = convert = linspace = to_numpy = to_torch = to_jax = to_cupy = to_numba = to_warp = Any
to_tensorflow = to_pycuda = to_gpuarray = to_cudamat = to_gnumpy = to_garray = Any
_bridge_rows = _kernel_op_counts = list[dict[str, Any]]

class ufunc:
    nargs = nin = nout = int
    types = list[str]
    __name__ = __qualname__ = str
    def __call__(
        self,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> Any: ...
    at = None

nonzero = tuple[Array, ...]

def put_along_axis(axis: SupportsIndex | None) -> None: ...
def _random_counter(key: int, stream: int, position: int) -> Any: ...

_random_position = int
