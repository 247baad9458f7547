# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a Python package around the kernels of a CUDA C file: the file itself, a function for each
kernel, tests and a README."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path

from .._core import ArgumentError, KernelParameter
from . import legacy_templates as templates
from .legacy_source import LegacyFile
from .wrap_cu import CuKernel, variable_name

# Number of axes -> (block, grid) of 4096 threads in all.
_LAUNCHES = {
    1: ((256, 1, 1), (16, 1, 1)),
    2: ((16, 16, 1), (4, 4, 1)),
    3: ((8, 8, 4), (2, 2, 4)),
}
# Names that the generated module defines or imports.
_RESERVED = {"cache", "module", "sw", "Path", "SOURCE"}


def write_package(legacy: LegacyFile, name: str, output: Path | None, listing: str) -> Path:
    """Writes the package `name` to the folder `output`, by default `name`, and returns the folder.

    Raises ArgumentError for a name that is not a Python identifier, and for a folder that exists.
    """
    if not name.isidentifier() or iskeyword(name):
        raise ArgumentError(
            f"--package: expected a Python name of letters, digits and underscores, got {name!r}"
        )
    folder = Path(name) if output is None else output
    if folder.exists():
        raise ArgumentError(
            f"--output: expected a folder that does not exist, got {folder}; delete it, or name another"
        )
    source, kernels = legacy.file.path, legacy.file.kernels
    functions = _function_names(kernels)
    texts = {
        f"{name}/__init__.py": _module(source.name, kernels),
        "tests/test_kernels.py": templates.TESTS.format(
            package=name,
            cases="".join(
                _case(f"{name}.{functions[kernel.name]}", legacy, kernel) for kernel in kernels
            ),
        ),
        "README.md": templates.README.format(
            package=name,
            file=source.name,
            function=functions[kernels[0].name],
            arguments=", ".join(_argument_names(kernels[0])),
            listing=listing,
        ),
        "pyproject.toml": templates.PROJECT.format(package=name),
    }
    contents = {folder / path: text.encode() for path, text in texts.items()}
    for original, copy in {source: Path(source.name), **legacy.header_copies}.items():
        if copy is not None:
            contents[folder / name / copy] = original.read_bytes()
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _module(file: str, kernels: tuple[CuKernel, ...]) -> str:
    instances = [kernel.instance for kernel in kernels if kernel.is_template]
    names = f", names={instances!r}" if instances else ""
    parts = [templates.INIT.format(file=file, names=names)]
    functions = _function_names(kernels)
    for kernel in kernels:
        arguments = _argument_names(kernel)
        parts.append(
            templates.FUNCTION.format(
                function=functions[kernel.name],
                parameters="".join(f"{name}, " for name in arguments),
                signature=f"{kernel.name}({kernel.signature})",
                line=kernel.line,
                file=file,
                name=kernel.instance,
                declarations="".join(f'        "{text}",\n' for text in _declarations(kernel)),
                arguments=_tuple(arguments),
            )
        )
    return "".join(parts)


def _tuple(items: list[str]) -> str:
    """The text of a tuple with these items, without its parentheses."""
    return f"{items[0]}," if len(items) == 1 else ", ".join(items)


def _function_names(kernels: tuple[CuKernel, ...]) -> dict[str, str]:
    """{kernel: Python function}: the kernel's name, with its namespaces where it is not unique."""
    short = [variable_name(kernel.name) for kernel in kernels]
    names = {}
    for kernel, name in zip(kernels, short, strict=True):
        unique = name if short.count(name) == 1 else re.sub(r"\W+", "_", kernel.name)
        names[kernel.name] = f"{unique}_" if unique in _RESERVED else unique
    return names


def _declarations(kernel: CuKernel) -> tuple[str, ...]:
    """The declarations of a kernel; a parameter of a template's type is float, as in the instance
    <float> that the package compiles."""
    return tuple(
        "float32" if kernel.is_template and declared == parameter.type else declared
        for declared, parameter in zip(kernel.declarations, kernel.parameters, strict=True)
    )


def _argument_names(kernel: CuKernel) -> list[str]:
    reserved = {"block", "grid", "shared", "stream"}
    names: list[str] = []
    for i, parameter in enumerate(kernel.parameters):
        name = parameter.name if parameter.name.isidentifier() else f"argument{i}"
        if iskeyword(name) or name in reserved or name in names:
            name += "_"
        names.append(name)
    return names


def _case(function: str, legacy: LegacyFile, kernel: CuKernel) -> str:
    """An entry of CASES: 4096 threads, as an array has elements, in as many axes as the kernel uses.
    It is skipped if a parameter has an unknown type."""
    integers = [p for p in kernel.parameters if _is_integer(p)]
    # An extent for each integer parameter, whose product is at most the elements of an array, 4096.
    extent = {0: 1, 1: 4096, 2: 64, 3: 16}.get(len(integers), 4)
    arguments = [_argument(kernel, parameter, extent) for parameter in kernel.parameters]
    if None in arguments:
        pairs = zip(kernel.parameters, arguments, strict=True)
        unknown = ", ".join(f"{p.type} {p.name}" for p, text in pairs if text is None)
        skip = f'pytest.mark.skip(reason="give arguments for {unknown}")'
        return f"    pytest.param(\n        {function}, tuple, {{}}, marks={skip}\n    ),\n"
    block, grid = _LAUNCHES[legacy.axes.get(kernel.line, 1)]
    return (
        f"    (\n        {function},\n        lambda: ({_tuple(arguments)}),\n"
        f'        {{"block": {block}, "grid": {grid}}},\n    ),\n'
    )


def _is_integer(parameter: KernelParameter) -> bool:
    return not parameter.is_pointer and parameter.dtype is not None and parameter.dtype.kind in "iu"


def _argument(kernel: CuKernel, parameter: KernelParameter, extent: int) -> str | None:
    """The Python expression of an argument; None for a parameter of an unknown type."""
    dtype = parameter.dtype
    if parameter.is_pointer or "View<" in parameter.type:
        if dtype is None and not kernel.is_template:
            return None
        shape = {2: ", 64, 64", 3: ", 16, 16, 16"}.get(parameter.view_rank, "")
        return f'array("{dtype or "float32"}"{shape})'
    if _is_integer(parameter):
        return str(extent)
    return "2.0" if dtype is not None or kernel.is_template else None
