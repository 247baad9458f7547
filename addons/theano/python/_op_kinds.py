# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Classes that describe the ops of a compiled program by Theano's names, for the host and the GPU.

Scripts test the names of op classes and their modules, and profiles print them.
"""

from __future__ import annotations

from typing import Any

from ._op import Op


class ProgramOp(Op):
    """An op of a compiled program; ``str(op)`` is its name in Theano. `native` is the op of Spanwise
    that runs."""

    def __init__(self, text: str, native: Any = None) -> None:
        self.name = text
        self.native = native
        self.view_map = dict(getattr(native, "view_map", None) or {})
        self.destroy_map = dict(getattr(native, "destroy_map", None) or {})
        self.inplace_pattern = {i: js[0] for i, js in self.destroy_map.items()}

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))


class ScalarOp:
    """The scalar operation of an Elemwise; the name of its class is Theano's."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


def kinds_of(module: str, *names: str) -> list[type[ProgramOp]]:
    """New subclasses of ProgramOp with these names in ``theano.<module>``."""
    return [type(name, (ProgramOp,), {"__module__": f"theano.{module}"}) for name in names]


Elemwise, DimShuffle, CAReduce, Sum, Prod, Any_, All = kinds_of(
    "tensor.elemwise", "Elemwise", "DimShuffle", "CAReduce", "Sum", "Prod", "Any", "All"
)
(CGemv,) = kinds_of("tensor.blas_c", "CGemv")
Gemm, Dot22, BatchedDot = kinds_of("tensor.blas", "Gemm", "Dot22", "BatchedDot")
Dot, Alloc, Reshape, Join, ARange, ScalarFromTensor = kinds_of(
    "tensor.basic", "Dot", "Alloc", "Reshape", "Join", "ARange", "ScalarFromTensor"
)
(MakeVector,) = kinds_of("tensor.opt", "MakeVector")
Subtensor, AdvancedSubtensor, AdvancedSubtensor1 = kinds_of(
    "tensor.subtensor", "Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1"
)
IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1 = kinds_of(
    "tensor.subtensor", "IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1"
)
(IfElse,) = kinds_of("ifelse", "IfElse")
(Shape,) = kinds_of("compile.ops", "Shape")

#: Name of a class on the host -> name on the GPU, the same in both GPU back ends of Theano.
_GPU_NAMES = {
    name: f"Gpu{name.removeprefix('C')}"
    for name in (
        *("Elemwise", "DimShuffle", "Alloc", "Reshape", "Join", "Subtensor", "IncSubtensor"),
        *("CGemv", "Gemm", "Dot22", "BatchedDot"),
    )
}
#: First part of a device name of Theano -> the package of its back end.
PACKAGES = {"gpu": "sandbox.cuda", "cuda": "gpuarray"}
_TRANSFERS = ("HostFromGpu", "GpuFromHost", "GpuToGpu", "GpuContiguous")


def _gpu_kinds(dialect: str) -> dict[str, type[ProgramOp]]:
    """Name of a class on the host -> class on the GPU, and the classes of transfers."""
    package = PACKAGES[dialect]
    reduce = "GpuCAReduce" if dialect == "gpu" else "GpuCAReduceCuda"
    kinds = {}
    for host, name in {**_GPU_NAMES, "CAReduce": reduce, "Sum": reduce}.items():
        module = (
            "blas" if name in ("GpuGemv", "GpuGemm", "GpuDot22", "GpuBatchedDot") else "basic_ops"
        )
        (kinds[host],) = kinds_of(f"{package}.{module}", name)
    for name in _TRANSFERS:
        (kinds[name],) = kinds_of(f"{package}.basic_ops", name)
    return kinds


GPU_KINDS = {dialect: _gpu_kinds(dialect) for dialect in ("gpu", "cuda")}


def gpu_classes_of(module: str) -> dict[str, type[ProgramOp]]:
    """The classes of GPU_KINDS in ``theano.<module>``, by name."""
    kinds = (kind for of_dialect in GPU_KINDS.values() for kind in of_dialect.values())
    return {kind.__name__: kind for kind in kinds if kind.__module__ == f"theano.{module}"}
