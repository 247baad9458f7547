# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.cuda.var``: classes of variables on the GPU, for isinstance."""

from __future__ import annotations

from typing import Any

from spanwise.graph import Constant, SharedVariable, Variable

from ..._function import is_on_gpu, shared

__all__ = [
    "CudaNdarrayConstant", "CudaNdarraySharedVariable", "CudaNdarrayVariable",
    "float32_shared_constructor",
]  # fmt: skip


class _OnGpu(type):
    """``isinstance(v, C)``: whether v is a variable of the class ``C.kind`` and on the GPU."""

    kind: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.kind) and is_on_gpu(instance)


class CudaNdarrayVariable(metaclass=_OnGpu):
    kind = Variable


class CudaNdarrayConstant(metaclass=_OnGpu):
    kind = Constant


class CudaNdarraySharedVariable(metaclass=_OnGpu):
    kind = SharedVariable


def float32_shared_constructor(
    value: Any, name: str | None = None, **options: Any
) -> SharedVariable:
    """A shared variable on the GPU. Raises TypeError if `value` is not float32."""
    if getattr(value, "dtype", None) != "float32":
        raise TypeError(f"float32_shared_constructor: expected a float32 array, got {value!r}")
    return shared(value, name, target=None, **options)
