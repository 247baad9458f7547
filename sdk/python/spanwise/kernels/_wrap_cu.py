# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.wrap_cu("old.cu")``: lists the kernels of a file and generates their declarations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import Path
from typing import Any

from .. import _core

# Signs of host code, which is left out when the file is compiled.
_HOST_CODE = re.compile(r"<<<|\b(cudaMalloc|cudaMemcpy|cudaFree|int\s+main)\b")
_HOST_HEADERS = re.compile(r"#\s*include\s*<(vector|string|iostream|fstream|map|thread|memory)>")


@dataclass(frozen=True)
class CuKernel:
    """One kernel of a file."""

    name: str
    line: int
    is_template: bool
    has_barrier: bool
    parameters: tuple[_core.KernelParameter, ...] = field(repr=False)

    @property
    def signature(self) -> str:
        return ", ".join(f"{p.type} {p.name}".strip() for p in self.parameters)

    @property
    def instance(self) -> str:
        """The name for get_function(); of a template its instance for float."""
        return f"{self.name}<float>" if self.is_template else self.name

    @property
    def declarations(self) -> tuple[str, ...]:
        """The strings for bind(args=...). Pointers are "contiguous": bind() copies other arrays."""
        return tuple(map(_declaration_of, self.parameters))


def _declaration_of(parameter: _core.KernelParameter) -> str:
    element = parameter.dtype.name if parameter.dtype is not None else None
    if parameter.is_pointer:
        const = "const " if parameter.is_const else ""
        return f"contiguous {const}{element}*" if element else "contiguous"
    if "View<" in parameter.type:
        return "strided"
    return element or parameter.type


@dataclass(frozen=True)
class CuFile:
    """A CUDA C file. ``print()`` shows its kernels and the Python code that declares them;
    ``module()`` compiles it."""

    path: Path
    source: str = field(repr=False)
    kernels: tuple[CuKernel, ...]
    problems: tuple[str, ...]

    def module(self, names: Iterable[str] = (), device: Any = None, **options: Any) -> Any:
        """Compiles the file: SourceModule(path=path, names=names, device=device, **options). The
        file's folder is the last include folder. Host code is left out."""
        return _core.SourceModule(path=self.path, names=list(names), device=device, **options)

    @property
    def declaration(self) -> str:
        """Python that compiles the file and declares its kernels."""
        templates = [kernel.instance for kernel in self.kernels if kernel.is_template]
        names = f", names={templates!r}" if templates else ""
        lines = [
            "import spanwise as sw",
            "",
            f"module = sw.SourceModule(path={str(self.path)!r}{names})",
        ]
        for kernel in self.kernels:
            lines += [
                f'{variable_name(kernel.name)} = module.get_function("{kernel.instance}").bind(',
                f"    args={kernel.declarations!r}",
                ")",
            ]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        count = len(self.kernels)
        lines = [f"{self.path}: {count} kernel{'' if count == 1 else 's'}"]
        for kernel in self.kernels:
            notes = [
                f"line {kernel.line}",
                *["template"] * kernel.is_template,
                *["threads wait for one another"] * kernel.has_barrier,
            ]
            lines.append(f"  {kernel.name}({kernel.signature})  [{', '.join(notes)}]")
        lines += [f"  note: {problem}" for problem in self.problems]
        return "\n".join([*lines, "", self.declaration])


def variable_name(name: str) -> str:
    """The Python name for a kernel."""
    plain = re.sub(r"\W", "_", name.split("::")[-1])
    return f"{plain}_" if iskeyword(plain) else plain


def _problems(source: str) -> list[str]:
    for number, line in enumerate(source.splitlines(), 1):
        code = line.split("//")[0]
        if _HOST_CODE.search(code) or _HOST_HEADERS.search(code):
            return [
                f"host code from line {number} on, which is left out: to call it, build a shared library and use "
                "sw.HostLibrary"
            ]
    return []


def wrap_cu(path: str | os.PathLike[str]) -> CuFile:
    """Reads a CUDA C file and lists its kernels, their parameters and their declarations.

    Templates are declared for float; edit the name for another type. Raises ArgumentError if the
    file has no __global__ function.
    """
    file = Path(path)
    source = file.read_text(encoding="utf-8", errors="replace")
    kernels = tuple(
        CuKernel(name, line, is_template, has_barrier, tuple(parameters))
        for name, line, is_template, has_barrier, parameters in _core._scan_kernels(source)
    )
    if not kernels:
        raise _core.ArgumentError(
            f"wrap_cu: expected a file with kernels, got {file}, which defines no __global__ function. "
            "Remedy: give the file that defines them, and expand macros that contain __global__"
        )
    return CuFile(file, source, kernels, tuple(_problems(source)))
