# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a CUDA C file has besides kernels: host functions that launch them, headers, calls of host
libraries, and variables of the device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .. import _core
from .legacy_headers import Header, find_headers
from .wrap_cu import CuFile, wrap_cu

_SPECIFIERS = {"static", "inline", "extern", "template", '"C"', "__host__", "__inline__"}
_DEVICE_MEMORY = ("__constant__", "__device__", "__managed__", "texture")
_QUALIFIERS = {*_DEVICE_MEMORY, "static", "extern", "const", "volatile", "__align__"}
# Prefix of the functions' names -> library for host code.
_LIBRARIES = {
    "cublas": "cuBLAS", "cufft": "cuFFT", "curand": "cuRAND", "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL", "npp": "NPP", "nvjpeg": "nvJPEG",
    "thrust": "Thrust", "cub": "CUB", "cudaGraphics": "graphics interoperation",
    "cuda": "the CUDA runtime", "cu": "the CUDA driver",
}  # fmt: skip
_CALL = re.compile(rf"(?:{'|'.join(_LIBRARIES)})(?=[A-Z])\w*")
#: Functions of cuRAND's device interface, which kernels call.
_DEVICE_CALLS = re.compile(r"curand(_\w+)?|curand[A-Z]\w*State\w*")

Tokens = Sequence[tuple[str, int]]


class Launcher(NamedTuple):
    """A host function that launches kernels, itself or by calling another launcher. `launches` and
    `calls` are (name, line). `name` is "" for a member function of a class."""

    name: str
    line: int
    head: str
    parameters: str
    returns: str
    is_exported: bool
    launches: tuple[tuple[str, int], ...]
    calls: tuple[tuple[str, int], ...]

    @property
    def call(self) -> str | None:
        """The Python expression for the launcher in a shared library; None for a function that is not
        extern "C" or has another result type."""
        if not self.is_exported or self.returns not in ("void", "int", "cudaError_t"):
            return None
        return f'library.launcher("{self.name}", "{self.parameters}", returns="{self.returns}")'


class DeviceVariable(NamedTuple):
    name: str
    line: int
    text: str  # the source line
    dtype: str  # of the elements; "" for other types


class LegacyFile(NamedTuple):
    """The contents of a file. `headers` and `header_copies` are the results of find_headers();
    `calls` maps a library to its functions and the lines of their first calls; `axes` maps each line
    of a kernel to the number of axes of threads that the kernel uses."""

    file: CuFile
    launchers: tuple[Launcher, ...]
    headers: tuple[Header, ...]
    variables: tuple[DeviceVariable, ...]
    calls: dict[str, dict[str, int]]
    header_copies: dict[Path, Path | None]
    axes: dict[int, int]


def read_legacy(path: Path, include_dirs: Iterable[Path] = ()) -> LegacyFile:
    """Reads the file without compiling it. Raises ArgumentError for a file without kernels, OSError
    for one that cannot be read."""
    file = wrap_cu(path)
    tokens, declarations = _core._outline(file.source)
    lines = file.source.splitlines()
    exported = list(_linkage_blocks(tokens))
    launchers, variables, axes = [], [], {}
    for kind, begin, end, head, _ in declarations:
        declaration = tokens[begin:end]
        is_exported = any(first <= begin < last for first, last in exported)
        launcher = _launcher(kind, head, declaration, launchers, is_exported)
        if launcher is not None:
            launchers.append(launcher)
        if "__global__" in head:
            axes.update(dict.fromkeys((line for _, line in declaration), _axes(declaration)))
        if kind == "variable" and any(text in _DEVICE_MEMORY for text, _ in declaration):
            variables += _variables(declaration, lines[declaration[0][1] - 1].strip())
    headers, header_copies = find_headers(path, list(include_dirs))
    return LegacyFile(
        file, tuple(launchers), headers, tuple(variables), _calls(tokens), header_copies, axes
    )


def _index_after_bracket(tokens: Tokens, opening: int) -> int:
    """The index behind the bracket that closes tokens[opening]."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i][0] in "([{") - (tokens[i][0] in ")]}")
        if depth == 0:
            return i + 1
    return len(tokens)


def _linkage_blocks(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """(first, last): the token indices of extern "C" blocks, and of the `extern` of declarations."""
    for i in range(len(tokens) - 2):
        if tokens[i][0] == "extern" and tokens[i + 1][0] == '"C"':
            yield (i, _index_after_bracket(tokens, i + 2) if tokens[i + 2][0] == "{" else i + 1)


def _variables(tokens: Tokens, text_of_line: str) -> Iterator[DeviceVariable]:
    """The variables that one declaration declares."""
    depth, name, is_value = 0, "", False
    words: list[str] = []  # the type, then the name of the first variable
    dtype = None
    for i, (text, line) in enumerate(tokens):
        if depth == 0 and text in ",;":
            if dtype is None:
                dtype = _dtype_of(words[:-1])
            yield DeviceVariable(name, line, text_of_line, dtype)
            is_value = False
        elif depth == 0 and text == "=":
            is_value = True
        elif not is_value and (depth == 0 or tokens[i - 1][0] == "*") and text.isidentifier():
            name = text
            words += [text] * (dtype is None and text not in _QUALIFIERS)
        elif text in "*<(" and not is_value:
            dtype = ""  # a pointer, a template, a function
        # The name is within the first parentheses of "(*function)(int)".
        is_value |= text == "(" and i > 0 and tokens[i - 1][0] == ")"
        depth += (text in "([{<") - (text in ")]}>")


def _dtype_of(words: list[str]) -> str:
    scanned = _core._scan_kernels(f"__global__ void k({' '.join(words)} x) {{}}")
    dtype = scanned[0][4][0].dtype if words and scanned and scanned[0][4] else None
    return "" if dtype is None else dtype.name


def _launches(tokens: Tokens) -> Iterator[tuple[str, int]]:
    """The (kernel, line) of each <<< >>>."""
    for i, (_, line) in enumerate(tokens):
        if [word for word, _ in tokens[i : i + 3]] != ["<"] * 3:
            continue
        name = i - 1
        if tokens[name][0] == ">":  # template arguments
            while name > 0 and tokens[name][0] != "<":
                name -= 1
            name -= 1
        yield tokens[name][0], line


def _launcher(
    kind: str, head: str, tokens: Tokens, launchers: Sequence[Launcher], is_exported: bool
) -> Launcher | None:
    """The declaration as a launcher, if it launches a kernel or calls one of `launchers`."""
    names = {launcher.name for launcher in launchers}
    launches = tuple(_launches(tokens))
    calls = tuple(
        (text, line)
        for (text, line), (following, _) in pairwise(tokens)
        if text in names and following == "("
    )
    line, text = tokens[0][1], " ".join(head.split())
    match = re.fullmatch(r"(.*?)([\w:]+)\s*\((.*)\)[^()]*", text)
    if kind != "function" or match is None:
        return Launcher("", line, text, "", "", False, launches, ()) if launches else None
    specifiers, name, parameters = match.groups()
    if name in names or not (launches or calls):  # an #else branch may define it again
        return None
    returns = " ".join(word for word in specifiers.split() if word not in _SPECIFIERS)
    is_exported &= not {"static", "template"} & set(specifiers.split()) and name != "main"
    parameters = "" if parameters == "void" else parameters
    return Launcher(name, line, text, parameters, returns, is_exported, launches, calls)


def _axes(tokens: Tokens) -> int:
    """The number of axes of threadIdx and blockIdx that a kernel uses, at least 1."""
    used = {
        tokens[i + 2][0]
        for i in range(len(tokens) - 2)
        if tokens[i][0] in ("threadIdx", "blockIdx") and tokens[i + 1][0] == "."
    }
    return 3 if "z" in used else 2 if "y" in used else 1


def _calls(tokens: Tokens) -> dict[str, dict[str, int]]:
    """{library: {function: line of its first call}} of the calls of host libraries."""
    calls: dict[str, dict[str, int]] = {}
    for (text, line), (following, _) in pairwise(tokens):
        is_call = following == "(" and _CALL.fullmatch(text) and not _DEVICE_CALLS.fullmatch(text)
        if is_call or (following == "::" and text in ("thrust", "cub")):
            library = next(name for prefix, name in _LIBRARIES.items() if text.startswith(prefix))
            calls.setdefault(library, {}).setdefault(text, line)
    return calls
