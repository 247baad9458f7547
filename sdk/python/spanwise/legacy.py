# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise legacy FILE``: what a CUDA C file contains and what it lacks, and a Python
package around its kernels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from . import _core
from ._core import ArgumentError as ArgumentError
from .kernels._cu_file import (
    LegacyFile,
    left_out,
    literal as _literal,
    printable as _printable,
    python_name as python_name,
    read_legacy,
    write_bundle as _write_bundle,
    write_package,
)
from .kernels._hub_layout import UNIVERSAL as _UNIVERSAL, write_repository as _write_repository

_HEADER_HANDLING = {
    "replaced": "not found; Spanwise's replacement of this header of NVIDIA's samples is used",
    "left out": "of a library that host code calls; left out",
    "": "not found; pass its folder as include_dirs= (here: --include-dir)",
}


def describe(legacy: LegacyFile) -> str:
    """The listing of a file."""
    library = _literal(f"lib{legacy.file.path.stem}.so")
    parts = (
        ("kernels, for sw.wrap_cu and sw.SourceModule(path=)", _kernels),
        (f"functions that launch kernels, for library = sw.HostLibrary({library})", _launchers),
        ("headers", _headers),
        ("calls of libraries in host code, which is left out", _calls),
        ("variables of the device, to set before a launch", _variables),
    )
    lines = [str(legacy.file.path)]
    for title, part in parts:
        part_lines = list(part(legacy))
        lines += ["", title, *part_lines] if part_lines else []
    return "\n".join(map(_printable, lines))


def _kernels(legacy: LegacyFile) -> Iterator[str]:
    for kernel in legacy.file.kernels:
        header = f"{kernel.header}, " if kernel.header else ""
        yield f"  {header}line {kernel.line}: {kernel.name}({kernel.signature})"
        notes = [
            *["a template"] * kernel.is_template,
            *["its threads wait for one another"] * kernel.has_barrier,
        ]
        yield f"      args={kernel.declarations!r}" + "".join(f"; {note}" for note in notes)
    for line in left_out(legacy.file.kernels):
        yield f"  {line}"
    if lines := _core._warp_step_lines(legacy.file.source):
        yield f"  relies on warps in step, lines {', '.join(map(str, lines))}"
    for problem in legacy.file.problems:
        yield f"  note: {problem}"


def _launchers(legacy: LegacyFile) -> Iterator[str]:
    for launcher in legacy.launchers:
        yield f"  line {launcher.line}: {launcher.head}"
        for verb, uses in (("launches", launcher.launches), ("calls", launcher.calls)):
            if uses:
                yield f"      {verb} " + ", ".join(f"{name} in line {line}" for name, line in uses)
        if launcher.call is not None:
            yield f"      {launcher.call}"
        elif launcher.name != "main":
            yield '      not callable from Python: that needs a function that is extern "C" and returns void, int or cudaError_t'


def _headers(legacy: LegacyFile) -> Iterator[str]:
    for header in legacy.headers:
        yield f"  {header.file}, line {header.line}: {header.name}: {_HEADER_HANDLING[header.handling]}"


def _calls(legacy: LegacyFile) -> Iterator[str]:
    for library, functions in legacy.calls.items():
        names = ", ".join(f"{name} (line {line})" for name, line in functions.items())
        yield f"  {library}: {names}"


def _variables(legacy: LegacyFile) -> Iterator[str]:
    for variable in legacy.variables:
        yield f"  line {variable.line}: {variable.text}"
        view = {
            "": "[...] = values  # as bytes",
            "texture": '[:8].view("uint64")[...] = int(texture)  # of texture = sw.Texture(array)',
        }.get(variable.dtype, f'.view("{variable.dtype}")[...] = values')
        yield f'      module.get_global("{variable.name}"){view}'


def main(arguments: list[str]) -> int:
    """Lists the file, or writes the package. Returns 1 after an error, which it prints."""
    parser = argparse.ArgumentParser(
        prog="python -m spanwise legacy",
        description="Lists what a CUDA C file contains and what it lacks, or writes a package.",
    )
    parser.add_argument("file", type=Path, help="a CUDA C file with kernels")
    parser.add_argument("--list", action="store_true", help="list the file (the default)")
    parser.add_argument("--package", metavar="NAME", help="write a Python package of its kernels")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, help="the folder to write to; NAME by default"
    )
    parser.add_argument(
        "--include-dir", metavar="DIR", type=Path, action="append", default=[], help="of headers"
    )
    parser.add_argument(
        "--bundle",
        metavar="ARCHS",
        nargs="?",
        const="sm_80,sm_90,sm_120,ptx",
        help="also compile the kernels ahead of time into the package, for these GPUs and the CPU, so that it "
        "runs without a compiler; default: %(const)s",
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="also write the package as a repository for Hugging Face's package kernels, NAME with dashes",
    )
    options = parser.parse_args(arguments)
    try:
        legacy = read_legacy(options.file, options.include_dir)
        if options.list or options.package is None:
            print(describe(legacy))
        if options.package is not None:
            folder = write_package(legacy, options.package, options.output, describe(legacy))
            for header, copy in legacy.header_copies.items():
                if copy is None:
                    print(
                        f"not copied: {_printable(str(header))}, which is outside the folders of the file and of "
                        "--include-dir, or which Python would import"
                    )
            for header in legacy.headers:
                if not header.handling:
                    print(
                        f"not found: {_printable(header.name)}, which {_printable(header.file)} includes in line "
                        f"{header.line}; without it the package may not compile: name its folder with --include-dir"
                    )
            if options.bundle is not None:
                archs = [arch for arch in options.bundle.split(",") if arch]
                print(_write_bundle(legacy, folder, options.package, archs, options.include_dir))
            if options.kernels:
                package = folder / options.package
                files = [
                    path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"
                ]
                contents = {str(path.relative_to(package)): path.read_bytes() for path in files}
                name = options.package.replace("_", "-")
                _write_repository(folder, name, {_UNIVERSAL: "cpu"}, contents)
            print(f"wrote {folder}; its tests: python -m pytest {folder}")
    except (_core.Error, OSError) as error:
        print(f"spanwise legacy: {error}", file=sys.stderr)
        return 1
    return 0
