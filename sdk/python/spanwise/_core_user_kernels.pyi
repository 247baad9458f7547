# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from expressions in spanwise._core; part of _core.pyi, not a module.

Their constructors are those of the classes in _kernels/user_kernels.py, which derive from these.
"""

from typing import Any, SupportsIndex

from ._core import Array

class _ElementwiseKernel:
    def __new__(cls, *parts: Any) -> _ElementwiseKernel: ...
    @property
    def name(self) -> str: ...
    def __call__(
        self, *args: Any, size: SupportsIndex | None = None, stream: Any = None, out: Any = None
    ) -> Any: ...

class _ReductionKernel:
    def __new__(cls, *parts: Any) -> _ReductionKernel: ...
    @property
    def name(self) -> str: ...
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any: ...

class _ScanKernel:
    def __new__(cls, *parts: Any) -> _ScanKernel: ...
    @property
    def name(self) -> str: ...
    def __call__(
        self,
        input: Any,
        output: Any = None,
        allocator: None = None,
        stream: Any = None,
        *,
        axis: SupportsIndex | None = None,
    ) -> Array: ...
