# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a CUDA C file contains. ``sw.wrap_cu("old.cu")`` lists its kernels and generates their
declarations; for ``python -m spanwise legacy`` there are the host functions that launch them, headers,
calls of host libraries and variables of the device, and a Python package around the kernels: the
file itself, a function for each kernel, tests and a README."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core

# ---- Kernels ----

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


# ---- Headers ----

_INCLUDE = re.compile(r'#\s*include\s*(["<])([^">]+)[">]')
_SYSTEM_FOLDERS = ("/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu")


class Header(NamedTuple):
    """An included header that is in none of the searched folders. `handling` is "replaced", "left
    out", or "" for a header that Spanwise does not have; see _core._header_on_cpu()."""

    name: str
    file: str
    line: int
    handling: str


def find_headers(
    path: Path, include_dirs: list[Path]
) -> tuple[tuple[Header, ...], dict[Path, Path | None]]:
    """The headers that are in none of the searched folders; and for each other header the path of a
    copy of it, relative to a copy of the file, where the same #include finds it, or None."""
    missing: dict[str, Header] = {}
    copies: dict[Path, Path | None] = {}
    unread = [path]
    while unread:
        file = unread.pop(0)
        for text, line in _core._outline(file.read_text(encoding="utf-8", errors="replace"))[0]:
            include = _INCLUDE.match(text)
            if include is None:
                continue
            name = include[2]
            # Searched folder -> the folder of copies of its headers.
            copy_of_file = copies.get(file, Path(path.name))
            folders = (
                {file.parent: copy_of_file and copy_of_file.parent} if include[1] == '"' else {}
            )
            for searched in (path.parent, *include_dirs):
                folders.setdefault(searched, Path())
            folder = next((d for d in folders if (d / name).is_file()), None)
            if folder is None:
                handling = _core._header_on_cpu(name)
                is_installed = any((Path(d) / name).is_file() for d in _SYSTEM_FOLDERS)
                if handling != "known" and (handling or not is_installed):
                    missing.setdefault(name, Header(name, file.name, line, handling))
            elif folder / name not in copies:
                target = folders[folder]
                copies[folder / name] = None if target is None or ".." in name else target / name
                unread.append(folder / name)
    return tuple(missing.values()), copies


# ---- The contents of a file ----

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


class HostLauncher(NamedTuple):
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
    launchers: tuple[HostLauncher, ...]
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
    kind: str, head: str, tokens: Tokens, launchers: Sequence[HostLauncher], is_exported: bool
) -> HostLauncher | None:
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
        return HostLauncher("", line, text, "", "", False, launches, ()) if launches else None
    specifiers, name, parameters = match.groups()
    if name in names or not (launches or calls):  # an #else branch may define it again
        return None
    returns = " ".join(word for word in specifiers.split() if word not in _SPECIFIERS)
    is_exported &= not {"static", "template"} & set(specifiers.split()) and name != "main"
    parameters = "" if parameters == "void" else parameters
    return HostLauncher(name, line, text, parameters, returns, is_exported, launches, calls)


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


# ---- The files of a package, for str.format() ----

_INIT = '''"""The kernels of {file}, for arrays of any library that Spanwise imports.

A function runs its kernel on the device of its first Spanwise array, else on the default device.
Arrays of any layout are accepted: those that are not C-contiguous are copied, and copied back if the
kernel writes them.
"""

from functools import cache
from pathlib import Path

import spanwise as sw

SOURCE = Path(__file__).with_name("{file}")


@cache
def module(device=None):
    """The compiled file; `device` is a Spanwise device, by default the default device."""
    return sw.SourceModule(path=SOURCE{names}, device=device)


@cache
def _kernel(name, declarations, device):
    return module(device).get_function(name).bind(args=declarations)


def _launch(name, declarations, arguments, launch):
    arrays = (x for x in arguments if isinstance(x, sw.Array))
    device = next((x.device for x in arrays), sw.default_device())
    _kernel(name, declarations, device)(*arguments, **launch)
'''

_FUNCTION = '''

def {function}({parameters}*, block, grid=1, shared=0, stream=None):
    """{signature}

    Line {line} of {file}. `block`, `grid`, `shared` and `stream` as for a sw.SourceModule's function.
    """
    declarations = (
{declarations}    )
    launch = {{"block": block, "grid": grid, "shared": shared, "stream": stream}}
    _launch("{name}", declarations, ({arguments}), launch)
'''

_TESTS = '''"""Each kernel runs without and with checks (`config.kernel_check`), on the CPU, on the same arguments.

The arguments and the launch were derived from the declarations: correct them where a kernel expects
others. A KernelFaultError names the access, the thread and the line.
"""

import numpy as np
import pytest
import spanwise as sw

import {package}

SIZE = 4096  # elements of an array


def array(dtype, *shape):
    """Random numbers from 0 to the square root of SIZE, which are valid as indices as well."""
    values = np.random.default_rng(0).uniform(0, SIZE**0.5, shape or SIZE)
    return sw.array(values.astype(dtype), device="cpu")


CASES = [
{cases}]


@pytest.mark.parametrize(("kernel", "arguments", "launch"), CASES)
def test_checked_run_agrees(kernel, arguments, launch):
    plain, checked = arguments(), arguments()
    with sw.config.change(kernel_check="none"):
        kernel(*plain, **launch)
    with sw.config.change(kernel_check="all"):
        kernel(*checked, **launch)
    for a, b in zip(plain, checked):
        if isinstance(a, sw.Array):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
'''

_README = """# {package}

The kernels of `{file}` as Python functions, made by `python -m spanwise legacy`. They run on a GPU,
and without one on the CPU.

```python
import {package}

{package}.{function}({arguments}, block=256, grid=16)
```

- `{package}/{file}` is the file itself; edit it there. `{package}.module()` is the compiled file.
- `tests/test_kernels.py` compares runs with and without checks for out-of-bounds accesses, races
  and undefined values: `python -m pytest`. Its arguments are guesses from the declarations.

## What the file contains

```text
{listing}
```
"""

_PROJECT = """[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "{package}"
version = "0.1"
dependencies = ["spanwise"]

[tool.setuptools]
packages = ["{package}"]

[tool.setuptools.package-data]
"{package}" = ["**/*"]

[tool.pytest.ini_options]
pythonpath = ["."]
testpaths = ["tests"]
"""


# ---- Writing of a package ----

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
        raise _core.ArgumentError(
            f"--package: expected a Python name of letters, digits and underscores, got {name!r}"
        )
    folder = Path(name) if output is None else output
    if folder.exists():
        raise _core.ArgumentError(
            f"--output: expected a folder that does not exist, got {folder}; delete it, or name another"
        )
    source, kernels = legacy.file.path, legacy.file.kernels
    functions = _function_names(kernels)
    texts = {
        f"{name}/__init__.py": _module(source.name, kernels),
        "tests/test_kernels.py": _TESTS.format(
            package=name,
            cases="".join(
                _test_case(f"{name}.{functions[kernel.name]}", legacy, kernel) for kernel in kernels
            ),
        ),
        "README.md": _README.format(
            package=name,
            file=source.name,
            function=functions[kernels[0].name],
            arguments=", ".join(_argument_names(kernels[0])),
            listing=listing,
        ),
        "pyproject.toml": _PROJECT.format(package=name),
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
    parts = [_INIT.format(file=file, names=names)]
    functions = _function_names(kernels)
    for kernel in kernels:
        arguments = _argument_names(kernel)
        parts.append(
            _FUNCTION.format(
                function=functions[kernel.name],
                parameters="".join(f"{name}, " for name in arguments),
                signature=f"{kernel.name}({kernel.signature})",
                line=kernel.line,
                file=file,
                name=kernel.instance,
                declarations="".join(f'        "{text}",\n' for text in _declarations(kernel)),
                arguments=_tuple_text(arguments),
            )
        )
    return "".join(parts)


def _tuple_text(items: list[str]) -> str:
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


def _test_case(function: str, legacy: LegacyFile, kernel: CuKernel) -> str:
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
        f"    (\n        {function},\n        lambda: ({_tuple_text(arguments)}),\n"
        f'        {{"block": {block}, "grid": {grid}}},\n    ),\n'
    )


def _is_integer(parameter: _core.KernelParameter) -> bool:
    return not parameter.is_pointer and parameter.dtype is not None and parameter.dtype.kind in "iu"


def _argument(kernel: CuKernel, parameter: _core.KernelParameter, extent: int) -> str | None:
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
