# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a CUDA C file contains. ``sw.wrap_cu("old.cu")`` lists its kernels and generates their
declarations; for ``python -m spanwise legacy`` there are the host functions that launch them, headers,
calls of host libraries and variables of the device, and a Python package around the kernels: the
file itself, a function for each kernel, tests and a README."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import all_suffixes
from itertools import pairwise
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

from .. import _core
from ._bundle import compile as bundle_of

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
    #: The parameters of a template that have no defaults: ("class T", "int N").
    template: tuple[str, ...] = ()
    #: The header that has it; "" for the file itself.
    header: str = ""

    @property
    def signature(self) -> str:
        return ", ".join(f"{p.type} {p.name}".strip() for p in self.parameters)

    @property
    def instance(self) -> str:
        """The name for get_function(); of a template an instance: for float, and examples of values."""
        arguments = map(_template_argument, self.template or ("class T",))
        return f"{self.name}<{', '.join(arguments)}>" if self.is_template else self.name

    @property
    def is_known(self) -> bool:
        """Whether `instance` is a guess that mostly compiles: of no template, or of one with a type."""
        return len(self.template) <= 1 and all(map(_is_type, self.template))

    @property
    def declarations(self) -> tuple[str, ...]:
        """The strings for bind(args=...). Pointers are "contiguous": bind() copies other arrays."""
        return tuple(map(_declaration_of, self.parameters))


def _is_type(template_parameter: str) -> bool:
    return template_parameter.split()[:1] in (["class"], ["typename"])


def _template_argument(template_parameter: str) -> str:
    if _is_type(template_parameter):
        return "float"
    return "true" if template_parameter.startswith("bool ") else "256"


def _template_parameters(head: str) -> tuple[str, ...]:
    """Those without defaults, of "template <class T, int N = 2> ..."."""
    depth, parts = 0, [""]
    for c in head[head.find("<") :]:
        depth += (c in "<(") - (c in ">)")
        if depth == 0:
            break
        if c == "," and depth == 1:
            parts.append("")
        elif depth > 1 or c != "<":
            parts[-1] += c
    return tuple(" ".join(part.split()) for part in parts if part.strip() and "=" not in part)


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
        kernels = [kernel for kernel in self.kernels if kernel.is_known]
        templates = [kernel.instance for kernel in kernels if kernel.is_template]
        names = f", names={templates!r}" if templates else ""
        lines = [
            "import spanwise as sw",
            "",
            *(f"# {line}" for line in left_out(self.kernels)),
            f"module = sw.SourceModule(path={str(self.path)!r}{names})",
        ]
        names = python_names(kernels, {"sw", "module"})
        for name, kernel in zip(names, kernels, strict=True):
            lines += [
                f"{name} = module.get_function({literal(kernel.instance)}).bind(",
                f"    args={kernel.declarations!r}",
                ")",
            ]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        count = len(self.kernels)
        lines = [f"{self.path}: {count} kernel{'' if count == 1 else 's'}"]
        for kernel in self.kernels:
            notes = [
                f"{kernel.header}, line {kernel.line}".removeprefix(", "),
                *["template"] * kernel.is_template,
                *["threads wait for one another"] * kernel.has_barrier,
            ]
            lines.append(f"  {kernel.name}({kernel.signature})  [{', '.join(notes)}]")
        lines += [f"  note: {problem}" for problem in self.problems]
        return "\n".join([*lines, "", self.declaration])


def printable(text: str) -> str:
    """`text` with escapes in place of characters that a terminal may interpret, and of bytes of a
    file name that are no text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def literal(text: str) -> str:
    """Python's literal for `text`, also valid inside three double quotes."""
    return '"' + printable(text.replace("\\", r"\\").replace('"', r"\"")) + '"'


def left_out(kernels: Iterable[CuKernel]) -> list[str]:
    """A line for each template that has several parameters or values, whose arguments are unknown."""
    return [
        f"{printable(k.name)} is left out, a template <{printable(', '.join(k.template))}>: add an instance, such as "
        f"names=[{literal(k.instance)}]"
        for k in kernels
        if not k.is_known
    ]


def _in_docstring(text: str) -> str:
    """`text` as it is written in a docstring, without lone surrogates, which Python 3.13 refuses."""
    return literal(text.encode(errors="backslashreplace").decode())[1:-1]


def python_name(text: str, taken: Collection[str]) -> str:
    """A Python name that is not in `taken`, for any text. Python compares names in normal form KC;
    names like __getattr__ have a meaning in a module."""
    plain = "".join(
        c if f"_{c}".isidentifier() else "_" for c in unicodedata.normalize("NFKC", text)
    )
    name = plain if plain.isidentifier() else f"_{plain}"
    if name.startswith("__") and name.endswith("__"):
        name = "_" + name.lstrip("_")
    while iskeyword(name) or name in taken:
        name += "_"
    return name


def python_names(kernels: Sequence[CuKernel], reserved: Iterable[str]) -> list[str]:
    """The Python names of the kernels, with their namespaces where they are not unique."""
    short = [kernel.name.split("::")[-1] for kernel in kernels]
    taken = set(reserved)
    names: list[str] = []
    for kernel, name in zip(kernels, short, strict=True):
        text = name if short.count(name) == 1 else kernel.name.replace("::", "_")
        names.append(python_name(text, taken))
        taken.add(names[-1])
    return names


def _problems(source: str) -> list[str]:
    for number, line in enumerate(source.splitlines(), 1):
        code = line.split("//")[0]
        if _HOST_CODE.search(code) or _HOST_HEADERS.search(code):
            return [
                f"host code from line {number} on, which is left out: to call it, build a shared library and use "
                "sw.HostLibrary"
            ]
    return []


_PTX_KERNEL = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?")
_PTX_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^,]*?(\[\d+\])?\s*(?:,|\Z)")


def _contents(source: str) -> str:
    """What a file without a __global__ function is, and the remedy."""
    if re.search(r"^\s*\.version\s+\d+\.\d+", source, re.MULTILINE):
        kernels = (
            f"{name}({', '.join(map(''.join, _PTX_PARAMETER.findall(parameters.strip())))})"
            for name, parameters in _PTX_KERNEL.findall(source)
        )
        return (
            f"which is PTX, compiled code, with the kernels: {', '.join(kernels) or 'none'}. Remedy: "
            "sw.Module.load(path) loads it for a GPU; for the CPU and for declarations give the source"
        )
    if "\0" in source:
        return (
            "which is a binary. Remedy: sw.Module.load(path) loads a cubin, a fat binary or LTO-IR for a GPU, and "
            "sw.HostLibrary(path) a shared library; for the CPU and for declarations give the source"
        )
    return (
        "which defines no __global__ function and includes none. Remedy: give the file that defines them, name "
        "the folders of its headers with include_dirs, and expand macros that contain __global__"
    )


def wrap_cu(path: str | os.PathLike[str], include_dirs: Iterable[Path] = ()) -> CuFile:
    """Reads a CUDA C file and lists its kernels, their parameters and their declarations; of a file
    without kernels those of the headers that it includes.

    Templates are declared for float; edit the name for another type. Raises ArgumentError if there
    is no __global__ function.
    """
    file = Path(path)
    source = file.read_text(encoding="utf-8", errors="replace")
    kernels = _kernels_of(source)
    if not kernels:
        headers = find_headers(file, list(map(Path, include_dirs)))[1]
        kernels = [
            kernel
            for header in headers
            for kernel in _kernels_of(
                header.read_text(encoding="utf-8", errors="replace"), header.name
            )
        ]
    if not kernels:
        raise _core.ArgumentError(
            f"wrap_cu: expected a file with kernels, got {file}, {_contents(source)}"
        )
    return CuFile(file, source, tuple(kernels), tuple(_problems(source)))


def _kernels_of(source: str, header: str = "") -> list[CuKernel]:
    scanned = _core._scan_kernels(source)
    templates: dict[int, tuple[str, ...]] = {}
    if any(is_template for _, _, is_template, _, _ in scanned):
        tokens, declarations = _core._outline(source)
        for _, begin, end, head, _ in declarations:
            if "__global__" in head and head.startswith("template"):
                lines = {line for _, line in tokens[begin:end]}
                templates.update(dict.fromkeys(lines, _template_parameters(head)))
    return [
        CuKernel(
            name,
            line,
            is_template,
            has_barrier,
            tuple(parameters),
            templates.get(line, ()) if is_template else (),
            header,
        )
        for name, line, is_template, has_barrier, parameters in scanned
    ]


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
                is_copied = target is not None and _can_copy(Path(name))
                # Not what a link beside the file leads to: it may be a private file of the user.
                real = (folder / name).resolve()
                roots = (path.parent, *include_dirs)
                is_copied &= any(real.is_relative_to(root.resolve()) for root in roots)
                copies[folder / name] = target / name if is_copied else None
                unread.append(folder / name)
    return tuple(missing.values()), copies


def _can_copy(path: Path) -> bool:
    """Whether a package may have the file: its copy is inside the folder, and Python or pytest do
    not run it as a module."""
    return (
        not path.is_absolute()
        and ".." not in path.parts
        and not path.name.endswith(tuple(all_suffixes()))
    )


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
#: Functions of cuRAND's device interface, which kernels call, and of cuComplex.h.
_DEVICE_CALLS = re.compile(r"curand(_\w+)?|curand[A-Z]\w*State\w*|cuC(?!tx|oredump|heckpoint)\w+")

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
        return f'library.launcher({literal(self.name)}, {literal(self.parameters)}, returns="{self.returns}")'


class DeviceVariable(NamedTuple):
    name: str
    line: int
    text: str  # the source line
    dtype: str  # of the elements; "texture" for a texture reference, "" for other types


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
    include_dirs = list(include_dirs)
    file = wrap_cu(path, include_dirs)
    tokens, declarations = _core._outline(file.source)
    lines = file.source.splitlines()
    exported = list(_linkage_blocks(tokens))
    launchers, variables, axes = [], [], {}
    of_device: set[int] = set()  # indices of tokens
    for kind, begin, end, head, _ in declarations:
        declaration = tokens[begin:end]
        is_exported = any(first <= begin < last for first, last in exported)
        launcher = _launcher(kind, head, declaration, launchers, is_exported)
        if launcher is not None:
            launchers.append(launcher)
        if "__host__" not in head and ("__global__" in head or "__device__" in head):
            of_device.update(range(begin, end))
        if "__global__" in head:
            axes.update(dict.fromkeys((line for _, line in declaration), _axes(declaration)))
        if kind == "variable" and any(text in _DEVICE_MEMORY for text, _ in declaration):
            variables += _variables(declaration, lines[declaration[0][1] - 1].strip())
    headers, header_copies = find_headers(path, include_dirs)
    calls = _calls([token for i, token in enumerate(tokens) if i not in of_device])
    return LegacyFile(file, tuple(launchers), headers, tuple(variables), calls, header_copies, axes)


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
    is_texture = any(text == "texture" for text, _ in tokens)
    dtype = "texture" if is_texture else None
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
        elif text in "*<(" and not is_value and not is_texture:
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
    """{library: {function: line of its first call}} of the calls of host libraries in host code."""
    calls: dict[str, dict[str, int]] = {}
    for (text, line), (following, _) in pairwise(tokens):
        is_call = following == "(" and _CALL.fullmatch(text) and not _DEVICE_CALLS.fullmatch(text)
        if is_call or (following == "::" and text in ("thrust", "cub")):
            library = next(name for prefix, name in _LIBRARIES.items() if text.startswith(prefix))
            calls.setdefault(library, {}).setdefault(text, line)
    return calls


# ---- The files of a package, for str.format() ----

_INIT = '''"""The kernels of {file_text}, for arrays of any library that Spanwise imports.

A function runs its kernel on the device of its first Spanwise array, else on the default device.
Arrays of any layout are accepted: those that are not C-contiguous are copied, and copied back if the
kernel writes them.
"""

from functools import cache
from pathlib import Path

import spanwise as sw

SOURCE = Path(__file__).with_name({file})
BUNDLE = SOURCE.with_suffix(".swb")
if BUNDLE.exists():  # compiled ahead of time, by python -m spanwise legacy --bundle
    sw.Bundle.load(BUNDLE).attach()


{left_out}@cache
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
    _launch({name}, declarations, ({arguments}), launch)
'''

_TESTS = '''"""Each kernel runs with and without checks (`config.kernel_check`), on the CPU, on the same arguments.

The arguments and the launch were guessed from the declarations. A kernel that has a fault with them is
tried with smaller integers, with rows of threads and with one block. A test

- passes if one attempt has no fault; faults of the attempts before it are warnings;
- is skipped if each attempt accesses memory outside of an array or is refused: the reason has the
  first one's access, thread and line. Nothing of that kernel was tested: correct the arguments;
- fails for other faults: races, reads of undefined values, barriers that some threads miss.

Correct the arguments and make GUESSED False: then there is one attempt, and each fault is an error.
"""

import warnings

import numpy as np
import pytest
import spanwise as sw

import {package} as package

GUESSED = True
SIZE = 4096  # elements of an array
INSTANCES = {instances}  # of templates, with guessed arguments
MISSING = {missing}  # headers that were not found when this was written


def array(dtype, *shape):
    """Random numbers from 0 to the square root of SIZE, which are valid as indices as well."""
    values = np.random.default_rng(0).uniform(0, SIZE**0.5, shape or SIZE)
    return sw.array(values.astype(dtype), device="cpu")


CASES = [
{cases}]

# (integers, block and grid) in place of the guessed ones.
ROW, ONE = {{"block": 256}}, {{"grid": 1}}
ATTEMPTS = [(n, launch) for launch in ({{}}, ROW, ONE, ROW | ONE) for n in (None, 64, 16, 1)]


def changed(arguments, launch, integer, other):
    def replace(x):
        is_integer = isinstance(x, int) and not isinstance(x, bool)
        return min(x, integer) if is_integer and integer else x

    return tuple(map(replace, arguments)), launch | other


def is_guess(error):
    """Whether wrong arguments cause the fault."""
    text = str(error)
    return not isinstance(error, sw.KernelFaultError) or "outside" in text or "memory fault" in text


def first_line(error):
    return str(error).splitlines()[0]


@pytest.mark.parametrize(("kernel", "arguments", "launch"), CASES)
def test_checked_run_agrees(kernel, arguments, launch):
    faults = []
    for integer, other in ATTEMPTS if GUESSED else [(None, {{}})]:
        checked, checked_launch = changed(arguments(), launch, integer, other)
        try:
            with sw.config.change(kernel_check="all"):
                kernel(*checked, **checked_launch)
        except sw.CompileError as error:
            absent = [name for name in MISSING if name in str(error)]
            if not INSTANCES and not absent:
                raise
            reason = f"without {{absent}}" if absent else f"with {{INSTANCES}}"
            pytest.skip(f"not tested: the file does not compile {{reason}}: {{first_line(error)}}")
        except (sw.KernelFaultError, sw.ArgumentError) as error:
            if not GUESSED:
                raise
            faults.append(error)
        else:
            break
    else:
        real = [error for error in faults if not is_guess(error)]
        if len(real) == len(faults):
            raise real[0]
        pytest.skip(f"not tested, with guessed arguments: {{first_line((real or faults)[0])}}")
    for error in faults:
        warnings.warn(f"with guessed arguments: {{first_line(error)}}", stacklevel=1)
    plain, _ = changed(arguments(), launch, integer, other)
    with sw.config.change(kernel_check="none"):
        kernel(*plain, **checked_launch)
    for a, b in zip(plain, checked):
        if isinstance(a, sw.Array):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
'''

_README = """# {package}

The kernels of {file_code} as Python functions, made by `python -m spanwise legacy`. They run on a GPU,
and without one on the CPU.

```python
import {package}

{example}
```

- {copy_code} is the file itself; edit it there. `{package}.module()` is the compiled file.
- `tests/test_kernels.py` compares runs with and without checks for out-of-bounds accesses, races
  and undefined values: `python -m pytest -rs`. Its arguments are guesses from the declarations; it
  says which kernels it did not test, and why.

## What the file contains

{fence}text
{listing}
{fence}
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

# Dynamic shared memory of a kernel of a file that has some.
_SHARED = 16384
_DYNAMIC_SHARED = re.compile(r"extern\s+__shared__|__shared__\s+extern")
# Number of axes -> (block, grid) of 4096 threads in all.
_LAUNCHES = {
    1: ((256, 1, 1), (16, 1, 1)),
    2: ((16, 16, 1), (4, 4, 1)),
    3: ((8, 8, 4), (2, 2, 4)),
}
# The names that the generated module uses; a kernel of the same name has an underscore behind it.
_RESERVED = {
    "BUNDLE",
    "Path",
    "SOURCE",
    "_kernel",
    "_launch",
    "cache",
    "isinstance",
    "module",
    "next",
    "sw",
}
# Modules that the package or its tests import, and the folder of its tests.
_OTHER_MODULES = {*sys.stdlib_module_names, "__main__", "numpy", "pytest", "spanwise", "tests"}


def write_package(legacy: LegacyFile, name: str, output: Path | None, listing: str) -> Path:
    """Writes the package `name` to the folder `output`, by default `name`, and returns the folder.

    Raises ArgumentError for a name that is not one of a new Python package, for a file that Python
    would import, and for a folder that exists.
    """
    if not name.isidentifier() or not name.isascii() or iskeyword(name) or name in _OTHER_MODULES:
        raise _core.ArgumentError(
            "--package: expected a Python name of letters, digits and underscores that is not a module's of "
            f"Python, numpy, pytest, spanwise or tests, got {name!r}"
        )
    folder = Path(name) if output is None else output
    if folder.exists():
        raise _core.ArgumentError(
            f"--output: expected a folder that does not exist, got {folder}; delete it, or name another"
        )
    source = legacy.file.path
    if not _can_copy(Path(source.name)):
        raise _core.ArgumentError(
            f"legacy: expected a CUDA C file whose copy Python does not import, got {source}; rename it to end in .cu"
        )
    texts = _texts(legacy, name, listing)
    for path, text in texts.items():
        if path.endswith(".py"):
            compile(text, path, "exec", dont_inherit=True)
    contents = {folder / path: text.encode() for path, text in texts.items()}
    for original, copy in {source: Path(source.name), **legacy.header_copies}.items():
        if copy is not None:
            contents[folder / name / copy] = original.read_bytes()
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def write_bundle(
    legacy: LegacyFile, folder: Path, name: str, archs: Sequence[str], include_dirs: Iterable[Path]
) -> Path:
    """Compiles the file for its package, for `archs` and the CPU, and returns the path of the bundle.
    Raises what sw.compile raises."""
    source = legacy.file.path
    bundle = bundle_of(
        source.read_bytes().decode(),
        archs,
        names=[k.instance for k in legacy.file.kernels if k.is_template and k.is_known],
        include_dirs=[*include_dirs, source.parent],
        file_name=source.name,
    )
    path = (folder / name / source.name).with_suffix(".swb")
    bundle.save(path)
    return path


def _texts(legacy: LegacyFile, name: str, listing: str) -> dict[str, str]:
    """{path in the folder: text} of the generated files."""
    file = legacy.file.path.name
    # The branches of an #if may define the same kernel.
    known = [k for k in legacy.file.kernels if k.is_known]
    kernels = list({(k.instance, _declarations(k)): k for k in reversed(known)}.values())[::-1]
    functions = python_names(kernels, _RESERVED)
    cases = (_test_case(f, legacy, k) for f, k in zip(functions, kernels, strict=True))
    example = f"module = {name}.module()"
    if kernels:
        arguments = ", ".join(_argument_names(kernels[0]))
        example = f"{name}.{functions[0]}({arguments}, block=256, grid=16)"
    skipped = left_out(legacy.file.kernels)
    return {
        f"{name}/__init__.py": _module(file, kernels, functions, skipped),
        "tests/test_kernels.py": _TESTS.format(
            package=name,
            instances=repr([kernel.instance for kernel in kernels if kernel.is_template]),
            missing=repr([header.name for header in legacy.headers if not header.handling]),
            cases="".join([*cases, *map(_skipped_case, skipped)]),
        ),
        "README.md": _README.format(
            package=name,
            file_code=_inline_code(file),
            copy_code=_inline_code(f"{name}/{file}"),
            example=example,
            fence=_fence(listing, 3),
            listing=listing,
        ),
        "pyproject.toml": _PROJECT.format(package=name),
    }


def _fence(text: str, at_least: int) -> str:
    """Backticks that end Markdown's code only behind `text`."""
    return "`" * max(at_least, *(len(run) + 1 for run in re.findall("`*", text)))


def _inline_code(text: str) -> str:
    fence = _fence(text, 1)
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{printable(text)}{space}{fence}"


def _module(
    file: str, kernels: Sequence[CuKernel], functions: Sequence[str], skipped: Iterable[str]
) -> str:
    instances = [kernel.instance for kernel in kernels if kernel.is_template]
    names = f", names={instances!r}" if instances else ""
    file_text = _in_docstring(file)
    comments = "".join(f"# {line}\n" for line in skipped)
    parts = [_INIT.format(file=literal(file), file_text=file_text, names=names, left_out=comments)]
    for function, kernel in zip(functions, kernels, strict=True):
        arguments = _argument_names(kernel)
        parts.append(
            _FUNCTION.format(
                function=function,
                parameters="".join(f"{name}, " for name in arguments),
                signature=_in_docstring(f"{kernel.name}({kernel.signature})"),
                line=kernel.line,
                file=_in_docstring(kernel.header or file),
                name=literal(kernel.instance),
                declarations="".join(f"        {literal(d)},\n" for d in _declarations(kernel)),
                arguments=_tuple_text(arguments),
            )
        )
    return "".join(parts)


def _tuple_text(items: list[str]) -> str:
    """The text of a tuple with these items, without its parentheses."""
    return f"{items[0]}," if len(items) == 1 else ", ".join(items)


def _declarations(kernel: CuKernel) -> tuple[str, ...]:
    """The declarations of a kernel; a parameter of a template's type is float, as in the instance
    <float> that the package compiles."""
    return tuple(
        "float32" if kernel.is_template and declared == parameter.type else declared
        for declared, parameter in zip(kernel.declarations, kernel.parameters, strict=True)
    )


def _argument_names(kernel: CuKernel) -> list[str]:
    # The names of the function's other parameters, and those that its body uses.
    taken = {"block", "declarations", "grid", "launch", "shared", "stream", "_launch"}
    names: list[str] = []
    for i, parameter in enumerate(kernel.parameters):
        names.append(python_name(parameter.name or f"argument{i}", {*taken, *names}))
    return names


def _test_case(name: str, legacy: LegacyFile, kernel: CuKernel) -> str:
    """An entry of CASES: 4096 threads, as an array has elements, in as many axes as the kernel uses.
    It is skipped if a parameter has an unknown type."""
    integers = [p for p in kernel.parameters if _is_integer(p)]
    axes = 1 if kernel.header else legacy.axes.get(kernel.line, 1)
    # An extent for each integer parameter, whose product is at most the elements of an array, 4096;
    # the extent of a square or a cube for a kernel of several axes.
    extent = {0: 1, 1: 4096, 2: 64, 3: 16}.get(max(len(integers), axes if integers else 0), 4)
    arguments = [_argument(kernel, parameter, extent) for parameter in kernel.parameters]
    if None in arguments:
        pairs = zip(kernel.parameters, arguments, strict=True)
        unknown = ", ".join(f"{p.type} {p.name}" for p, text in pairs if text is None)
        return _skipped_case(f"give arguments for {unknown}", f"package.{name}")
    block, grid = _LAUNCHES[axes]
    shared = f', "shared": {_SHARED}' if _DYNAMIC_SHARED.search(legacy.file.source) else ""
    return (
        f"    (\n        package.{name},\n        lambda: ({_tuple_text(arguments)}),\n"
        f'        {{"block": {block}, "grid": {grid}{shared}}},\n    ),\n'
    )


def _skipped_case(reason: str, function: str = "None") -> str:
    skip = f"pytest.mark.skip(reason={literal(reason)})"
    return f"    pytest.param(\n        {function}, tuple, {{}}, marks={skip}\n    ),\n"


def _is_integer(parameter: _core.KernelParameter) -> bool:
    return not parameter.is_pointer and parameter.dtype is not None and parameter.dtype.kind in "iu"


def _argument(kernel: CuKernel, parameter: _core.KernelParameter, extent: int) -> str | None:
    """The Python expression of an argument; None for a parameter of an unknown type."""
    dtype = parameter.dtype
    if "**" in parameter.type.replace(" ", "") or "TextureObject" in parameter.type:
        return None
    if parameter.is_pointer or "View<" in parameter.type:
        if dtype is None and not kernel.is_template:
            return None
        shape = {2: ", 64, 64", 3: ", 16, 16, 16"}.get(parameter.view_rank, "")
        return f'array("{dtype or "float32"}"{shape})'
    if _is_integer(parameter):
        return str(extent)
    if dtype is not None and dtype.kind == "b":
        return "True"
    return "2.0" if dtype is not None or kernel.is_template else None
