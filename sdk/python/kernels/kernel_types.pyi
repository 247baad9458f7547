# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""The types that the signatures of kernels lack; see ../core_types.pyi."""

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
