# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled ahead of time: ``sw.compile``, ``sw.Bundle``, and ``python -m spanwise compile``."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import runpy
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._core import ArgumentError

# What is common: a GPU of the data centre of three generations, and PTX for all newer ones.
ARCHS = ("sm_80", "sm_90", "sm_120", "ptx")
_HEADING = b"spanwise bundle "


class Bundle:
    """Sources with their binaries for several targets: the result of ``sw.compile``, or read from a file
    by ``Bundle.load``.

    ``sw.Module.load`` loads the kernels of one source, ``sw.load_ops`` the ops, and ``sw.kernel_op``
    takes a bundle in the place of its source. A device for which the bundle has binaries needs no
    compiler.
    """

    def __init__(self, contents: bytes, name: str = "bundle") -> None:
        self._contents = bytes(contents)
        metadata, self._units = _core._read_bundle(self._contents, name)
        try:
            self._metadata = json.loads(metadata)
        except ValueError:
            raise ArgumentError(
                f"bundle {name}: expected metadata as JSON, got {metadata[:40]!r}; compile it again"
            ) from None
        self._name = name
        self._is_attached = False

    @staticmethod
    def load(path_or_bytes: str | os.PathLike[str] | bytes) -> Bundle:
        """The bundle in a file. Raises ArgumentError for a file that is no bundle, is truncated or
        changed, or is of a newer interface, and OSError."""
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            return Bundle(bytes(path_or_bytes))
        path = Path(path_or_bytes)
        return Bundle(path.read_bytes(), str(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file."""
        Path(path).write_bytes(self._contents)

    def __bytes__(self) -> bytes:
        return self._contents

    @property
    def sources(self) -> list[str]:
        """The texts that were compiled."""
        return [unit[0] for unit in self._units]

    @property
    def targets(self) -> list[str]:
        """What the binaries are for: "x86-64-v3" a CPU, "sm_90" a GPU, "compute_80" PTX, which runs on
        that and newer GPUs."""
        return list(dict.fromkeys(target for unit in self._units for target in unit[4]))

    @property
    def ops(self) -> list[str]:
        """The names of the ops that ``sw.load_ops`` gives."""
        return [op["name"] for op in self._declarations()]

    def _declarations(self) -> list[dict[str, Any]]:
        return list(self._metadata.get("ops", ()))

    def attach(self) -> None:
        """From now on ``SourceModule`` of a text in this bundle, with the options that it was compiled
        with, loads the binary where the device has one, and compiles nothing."""
        if not self._is_attached:
            _core._attach_bundle(self._contents, self._name)
            self._is_attached = True

    def __repr__(self) -> str:
        return f"<spanwise.Bundle {self._name}: {len(self._units)} sources for {', '.join(self.targets)}>"


def is_bundle_file(path: str | os.PathLike[str]) -> bool:
    """Whether the file exists and begins as a bundle."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_HEADING)) == _HEADING
    except OSError:
        return False


def attached_source(source: Any) -> str:
    """The text for kernel_op(): `source` itself, or that of a bundle or its path, which is attached."""
    if isinstance(source, str):
        return source
    bundle = source if isinstance(source, Bundle) else Bundle.load(source)
    bundle.attach()
    texts = {op["source"] for op in bundle._declarations()} or set(bundle.sources)
    if len(texts) != 1:
        raise ArgumentError(
            f"kernel_op: expected a bundle of one source, got one of {len(texts)}; load its ops by sw.load_ops"
        )
    return str(texts.pop())


def compile(
    source: Any,
    archs: Iterable[str] = ARCHS,
    cpu: bool | Iterable[str] = True,
    *,
    options: Iterable[str] = (),
    names: Iterable[str] = (),
    include_dirs: Iterable[Any] = (),
    dtypes: Mapping[str, Iterable[Any]] | None = None,
    file_name: str = "kernel.cu",
) -> Bundle:
    """Compiles ahead of time, without a GPU and without a driver.

    `source` is a text of CUDA C++, with `options`, template instances `names` and `include_dirs` as
    for ``SourceModule``; or an op made by ``kernel_op``, or several, for which `dtypes` lists the
    dtypes that their letters stand for, ``{"T": ["float32", "float64"]}``, in all combinations.

    `archs` are GPU architectures: "sm_90" for a binary, "compute_80" for PTX, which the driver of that
    and any newer GPU compiles; "ptx" is PTX for the oldest of the others. NVRTC compiles for them. `cpu`
    adds binaries for processors of x86-64-v2 and x86-64-v3 (AVX2), by the host compiler; or it lists
    levels. A gradient of an op that is itself an op is compiled too; one that is a function is not
    stored: pass ``grad=`` where the op is loaded.

    Raises CompileError with the compiler's messages, DeviceError where there is no compiler,
    ArgumentError for an unknown target or a letter without dtypes.
    """
    if isinstance(source, str):
        texts = [
            (source, file_name, list(options), list(names), [str(each) for each in include_dirs])
        ]
        ops: list[Any] = []
    else:
        ops = list(source) if isinstance(source, (list, tuple)) else [source]
        if options or names or include_dirs:
            raise ArgumentError(
                "compile: options, names and include_dirs are for a text; give them to kernel_op"
            )
        declarations = [declaration_of(op) for op in ops]
        texts = _texts_of(declarations, dtypes or {})
        ops = [_stored(each) for each in declarations]
    metadata = json.dumps({"spanwise": _core.__version__, "ops": ops})
    return Bundle(_core._compile_bundle(texts, _targets(archs, cpu), metadata))


def _targets(archs: Iterable[str], cpu: bool | Iterable[str]) -> list[str]:
    names = [archs] if isinstance(archs, str) else list(archs)
    numbers = [int(digits) for name in names if (digits := name.partition("_")[2]).isdigit()]
    gpu = [f"compute_{min(numbers, default=75)}" if name == "ptx" else name for name in names]
    if isinstance(cpu, bool):
        is_x86 = platform.machine() in ("x86_64", "AMD64")
        levels = ["x86-64-v2", "x86-64-v3"] if is_x86 else ["armv8-a"]
        cpu = levels if cpu else []
    targets = [*([cpu] if isinstance(cpu, str) else cpu), *gpu]
    if not targets:
        raise ArgumentError('compile: expected a target, such as archs=["sm_90"], or cpu=True')
    return list(dict.fromkeys(targets))


# ---- Ops ----


def declaration_of(op: Any) -> dict[str, Any]:
    declaration = getattr(getattr(op, "_handle", None), "declaration", None)
    if declaration is None:
        raise ArgumentError(
            f"compile: expected a text of CUDA C++ or ops made by kernel_op, got {op!r}"
        )
    if "element_inputs" in declaration:
        raise _core.NotSupportedError(
            f"compile: {declaration['name']}: an op of an element body is compiled together with the "
            "graph around it; write a kernel"
        )
    return dict(declaration)


def _texts_of(
    declarations: Sequence[dict[str, Any]], dtypes: Mapping[str, Iterable[Any]]
) -> list[Any]:
    """What a function compiles for the ops, for all combinations of dtypes."""
    choices = {letter: [str(_core.dtype(each)) for each in dtypes[letter]] for letter in dtypes}
    texts = {}
    for declaration in declarations:
        for combination in itertools.product(*choices.values()):
            bound = dict(zip(choices, combination, strict=True))
            text, options, names, folders = _core._kernel_op_source(declaration, bound)
            key = (text, tuple(options), tuple(names))
            texts[key] = (text, f"{declaration['name']}.cu", options, names, folders)
        gradient = declaration["grad"]
        if isinstance(gradient, Mapping):
            inner = _texts_of([declaration_of(op) for op in gradient.values()], dtypes)
            texts |= {(text[0], tuple(text[2]), tuple(text[3])): text for text in inner}
    return list(texts.values())


def _stored(declaration: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration as JSON holds it."""
    stored = {**declaration, "include_dirs": [], "grad": None}
    stored["scalars"] = {
        name: {"dtype": str(value.dtype), "value": value.item()}
        if hasattr(value, "dtype")
        else value
        for name, value in declaration["scalars"].items()
    }
    gradient = declaration["grad"]
    if isinstance(gradient, Mapping):
        stored["grad"] = {name: _stored(declaration_of(op)) for name, op in gradient.items()}
    return stored


def loaded_declaration(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of kernel_op; those of gradients are still declarations."""
    import numpy

    scalars = {
        name: numpy.dtype(value["dtype"]).type(value["value"]) if isinstance(value, dict) else value
        for name, value in stored["scalars"].items()
    }
    return {**stored, "scalars": scalars}


# ---- python -m spanwise compile ----


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """The options of commands that compile ahead of time."""
    parser.add_argument(
        "--kernels",
        metavar="NAME",
        help="write a repository NAME for Hugging Face's package kernels, in the folder of --output",
    )
    parser.add_argument("--arch", default=",".join(ARCHS), help="default: %(default)s; '' is none")
    parser.add_argument("--no-cpu", action="store_true", help="no binaries for the CPU")
    parser.add_argument("--dtype", action="append", default=[], help="for ops: T=float32,float64")


def archs_of(given: argparse.Namespace) -> list[str]:
    return [arch for arch in given.arch.split(",") if arch]


def dtypes_of(given: argparse.Namespace) -> dict[str, list[str]]:
    pairs = (text.partition("=") for text in given.dtype)
    return {letter: names.split(",") for letter, _, names in pairs}


def ops_of_file(path: str | os.PathLike[str]) -> list[Any]:
    """The kernel ops that a Python file makes, each once."""
    found = {id(x): x for x in runpy.run_path(str(path)).values() if hasattr(x, "_handle")}
    return list(found.values())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m spanwise compile",
        description="Compiles a CUDA C++ file, or the kernel ops of a Python file, to a bundle for GPUs and "
        "CPUs. Needs no GPU.",
    )
    parser.add_argument("file", help="kernels.cu, or a Python file that makes ops by kernel_op")
    parser.add_argument("-o", "--output", required=True, help="the bundle, kernels.swb")
    add_target_options(parser)
    parser.add_argument(
        "--option", action="append", default=[], help="compiler option: --option=-DN=4"
    )
    parser.add_argument(
        "--name", action="append", default=[], help="template instance: scale<float>"
    )
    parser.add_argument("-I", dest="folders", action="append", default=[], help="include folder")
    given = parser.parse_args(arguments)
    path = Path(given.file)
    archs = archs_of(given)
    try:
        if path.suffix == ".py":
            bundle = compile(ops_of_file(path), archs, not given.no_cpu, dtypes=dtypes_of(given))
        else:
            bundle = compile(
                path.read_bytes().decode(),
                archs,
                not given.no_cpu,
                options=given.option,
                names=given.name,
                include_dirs=[*given.folders, str(path.parent)],
                file_name=path.name,
            )
        if given.kernels is not None:
            if not bundle.ops:
                raise ArgumentError("compile --kernels: expected a Python file that makes ops")
            from ._hub_layout import write_bundle_repository

            write_bundle_repository(Path(given.output), given.kernels, bytes(bundle), bundle.ops)
            print(f"{given.output}: a repository for kernels, for {', '.join(bundle.targets)}")
            return 0
        bundle.save(given.output)
    except (OSError, _core.Error) as error:
        print(f"spanwise compile: {error}", file=sys.stderr)
        return 1
    print(f"{given.output}: {os.path.getsize(given.output)} bytes, for {', '.join(bundle.targets)}")
    return 0
