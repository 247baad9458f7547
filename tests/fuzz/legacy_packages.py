# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that `python -m spanwise legacy --package` writes around hostile CUDA C files.

    PYTHONPATH=build/release/python:tests python -m fuzz.legacy_packages --cases 20000 --seed 7

A case is a file whose name, kernels, types, parameters, headers and comments contain quotes, escapes,
line ends, Python's keywords and the names of the generated module. The package must be valid Python with
the same syntax tree as that of plain names, so that nothing of the file is executed; each of its
functions must launch its own kernel with the arguments in order; and no file may be written elsewhere.
A case is determined by the seed and its number; `--case N` repeats one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import random
import sys
import tempfile
import types
import unicodedata
from pathlib import Path

from spanwise import legacy
from spanwise.kernels._cu_file import read_legacy

#: Names that a generated package uses itself: no kernel may have them there.
USED_BY_THE_PACKAGE = (
    "_launch",
    "_kernel",
    "module",
    "cache",
    "sw",
    "Path",
    "SOURCE",
    "next",
    "isinstance",
)
NAMES = [
    "k",
    "scale",
    *USED_BY_THE_PACKAGE,
    "x",
    "self",
    "print",
    "def",
    "class",
    "lambda",
    "None",
    "True",
    "is",
    "in",
    "async",
    "match",
    "type",
    "_",
    "__",
    "___",
    "__init__",
    "__file__",
    "__getattr__",
    "__debug__",
    "__name__",
    "__path__",
    "block",
    "grid",
    "shared",
    "stream",
    "launch",
    "declarations",
    "arguments",
    "name",
    "device",
    "package",
    "array",
    "CASES",
    "größe",
    "ﬁeld",
    "field",
    "μ",
    "µ",
    "á",
    "名",
]
TYPES = [
    "float *",
    "const int *",
    "int",
    "double",
    "Pair",
    "unsigned char *",
    "Pair *",
    "long long",
]
PIECES = (
    '"""', "'''", '"', "'", "\\", "\n", "\r", "\t", "{", "}", "{file}", "%s", "`", "```", "#", "$(id)", ";", "é", "\u202e",
    "\x1b[31m", "\udc80", " ", "import os", '"""\nraise SystemExit(7)\n"""', "\\N{", "\\x", "a",
)  # fmt: skip
PACKAGES = ("old", "np", "sw", "package", "CASES", "SIZE", "__x", "k", "print")


class Case:
    """The files of a case in `folder`."""

    def __init__(self, seed: int, number: int, folder: Path) -> None:
        self.chance = chance = random.Random(f"{seed} {number}")
        self.folder = folder / "source"
        self.folder.mkdir()
        self.package = chance.choice(PACKAGES)
        self.header = self._text(2).replace("/", "") or "h"
        self.file = self.folder / (self._text(3).replace("/", "") + ".cu")
        self.kernels = [
            (chance.choice(NAMES), self._parameters(), chance.randrange(4))
            for _ in range(chance.randrange(1, 5))
        ]
        self.file.write_text(self._source(self.kernels), encoding="utf-8", errors="surrogateescape")
        with contextlib.suppress(OSError):
            (self.folder / self.header).write_text("// a header\n")

    def _text(self, count: int) -> str:
        return "".join(self.chance.choice(PIECES) for _ in range(self.chance.randrange(count + 1)))

    def _parameters(self) -> list[tuple[str, str]]:
        names = self.chance.sample(NAMES, self.chance.randrange(4))
        return [(self.chance.choice(TYPES), name) for name in names]

    def _source(self, kernels: list[tuple[str, list[tuple[str, str]], int]]) -> str:
        parts = [f'#include "{self.header}"\n// {self._text(4)}\nstruct Pair {{ int a; }};\n']
        for name, parameters, kind in kernels:
            declared = ", ".join(f"{type} {parameter}" for type, parameter in parameters)
            head = "template <class T> " * (kind == 1)
            definition = f"{head}__global__ void {name}({declared}) {{ /* {self._text(3)} */ }}\n"
            parts.append(f"namespace n {{ {definition} }}\n" if kind == 2 else definition)
        parts.append(
            f'__constant__ float c[2]; /* {self._text(2)} */ const char *s = R"({self._text(3)})";\n'
        )
        return "".join(parts)


class Recorder:
    """In the place of `sw` in a package: records launches."""

    Array = type("Array", (), {"device": "device of the array"})

    def __init__(self) -> None:
        self.launches: list[tuple[str, tuple[str, ...], tuple[object, ...], dict[str, object]]] = []

    def default_device(self) -> str:
        return "device"

    def source_module(self, path: Path, names: object = (), device: object = None) -> object:
        def get_function(kernel: str) -> object:
            def bind(args: tuple[str, ...]) -> object:
                return lambda *values, **launch: self.launches.append(
                    (kernel, args, values, launch)
                )

            return types.SimpleNamespace(bind=bind)

        assert path.is_file(), path
        return types.SimpleNamespace(get_function=get_function)

    SourceModule = source_module


def shape_of(text: str) -> list[str]:
    """The types of the nodes of the syntax tree, without those of declarations and parameters."""
    return [
        type(node).__name__
        for node in ast.walk(ast.parse(text))
        if not isinstance(node, ast.Constant)
    ]


def plain_module(kernels: int, parameters: list[int], has_names: bool) -> str:
    """The module of kernels with plain names, with so many parameters each."""
    text = "".join(
        f"{'template <class T> ' if has_names and i == 0 else ''}__global__ void kernel{i}("
        + ", ".join(f"float *p{p}" for p in range(parameters[i]))
        + ") {}\n"
        for i in range(kernels)
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plain.cu").write_text(text)
        write(Path(folder) / "plain.cu", "plain", Path(folder) / "out")
        return (Path(folder) / "out" / "plain" / "__init__.py").read_text()


def write(file: Path, package: str, output: Path) -> str:
    """What the command prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = legacy.main([str(file), "--list", "--package", package, "--output", str(output)])
    assert status == 0, printed.getvalue()
    return printed.getvalue()


def check(seed: int, number: int) -> None:
    """Raises AssertionError or what the command raises if the package of the case is wrong."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        case = Case(seed, number, folder)
        before = {p: p.read_bytes() for p in case.folder.iterdir()}
        text = write(case.file, case.package, folder / "out")
        assert text.isprintable() or all(c.isprintable() or c == "\n" for c in text), ascii(text)
        assert {p: p.read_bytes() for p in case.folder.iterdir()} == before
        assert sorted(p.name for p in folder.iterdir()) == ["out", "source"]
        package = folder / "out" / case.package
        assert (package / case.file.name).read_bytes() == case.file.read_bytes()
        ast.parse((folder / "out" / "tests" / "test_kernels.py").read_text(encoding="utf-8"))
        (folder / "out" / "README.md").read_text(encoding="utf-8")
        check_module(case, package / "__init__.py")


def check_module(case: Case, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    helpers, functions = functions[:3], functions[3:]
    assert [helper.name for helper in helpers] == ["module", "_kernel", "_launch"]
    kernels = read_legacy(case.file).file.kernels
    unique = {(kernel.instance, kernel.declarations) for kernel in kernels}
    names = [unicodedata.normalize("NFKC", function.name) for function in functions]
    assert len(set(names)) == len(names) == len(unique), (names, unique)
    assert not set(names) & set(USED_BY_THE_PACKAGE)
    counts = [len(function.args.args) for function in functions]
    has_names = any(kernel.is_template for kernel in kernels)
    assert sorted(shape_of(text)) == sorted(
        shape_of(plain_module(len(functions), counts, has_names))
    )
    check_launches(path, functions, {kernel.instance for kernel in kernels})


def check_launches(path: Path, functions: list[ast.FunctionDef], instances: set[str]) -> None:
    """Each function of the package launches a kernel with its arguments in their order."""
    recorder, package = Recorder(), types.ModuleType("package")
    package.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(package))
    package.sw = recorder
    for function, count in [(f.name, len(f.args.args)) for f in functions]:
        call = vars(package)[unicodedata.normalize("NFKC", function)]
        arguments = tuple(object() for _ in range(count))
        call(*arguments, block=1, grid=2, shared=3, stream=4)
        kernel, declarations, values, launch = recorder.launches[-1]
        assert kernel in instances and len(declarations) == count and values == arguments
        assert launch == {"block": 1, "grid": 2, "shared": 3, "stream": 4}
    assert {kernel for kernel, *_ in recorder.launches} == instances


def problem_of(seed: int, number: int) -> str | None:
    """What is wrong with a case."""
    try:
        check(seed, number)
    except (Exception, SystemExit) as error:
        return f"--seed {seed} --case {number}: {type(error).__name__}: {ascii(str(error))[:400]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz.legacy_packages", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="number of one case to repeat")
    options = parser.parse_args()
    if options.case is not None:
        check(options.seed, options.case)
        return 0
    problems = [p for n in range(options.cases) if (p := problem_of(options.seed, n))]
    print("\n".join(problems[:20]))
    print(f"{options.cases} cases, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
