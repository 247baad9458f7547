# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A function has at most 80 lines, a source at most 1,000, and a C++ source's name is unique."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from support.tree import ROOT, project_files

MAX_FUNCTION, MAX_FILE = 80, 1000
FOLDERS = (
    *("sdk", "ops", "bridges", "addons", "tests", "benchmarks", "scripts", "examples", "cmake"),
)
CXX = {".c", ".cpp", ".h", ".hpp", ".inc", ".cu", ".cuh"}
SUFFIXES = {*CXX, ".py", ".pyi", ".txt", ".cmake"}
# Their names are those of CUDA's headers and of the C library's.
NAMED_BY_OTHERS = ("sdk/src/backends/cpu/shim/", "sdk/src/backends/cuda/rtc_include/")
COMMENT_OR_TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<![\w'])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
# What ends in ") {" after these words is no function.
STATEMENT = re.compile(
    r"\s*(?:\}\s*)?(?:else|if|for|while|switch|do|catch|namespace|enum|struct|class|union)\b"
)


def sources(suffixes: set[str]) -> list[Path]:
    return [f for f in project_files() if f.parts[0] in FOLDERS and f.suffix in suffixes]


def test_no_source_has_more_than_1000_lines():
    lines = {str(path): (ROOT / path).read_text().count("\n") for path in sources(SUFFIXES)}
    long = {name: count for name, count in lines.items() if count > MAX_FILE}
    assert not long, f"{long}: move one of its ideas to another file"


def test_no_function_has_more_than_80_lines():
    long = {}
    for path in sources(CXX | {".py"}):
        text = (ROOT / path).read_text()
        for line, count in python_functions(text) if path.suffix == ".py" else cxx_functions(text):
            if count > MAX_FUNCTION:
                long[f"{path}:{line}"] = count
    assert not long, f"{long}: give a part of it a name"


def test_no_two_cxx_sources_have_one_name():
    files: dict[str, list[str]] = {}
    for path in sources(CXX):
        if path.parts[0] in ("sdk", "ops", "bridges", "addons") and not str(path).startswith(
            NAMED_BY_OTHERS
        ):
            files.setdefault(path.name, []).append(str(path))
    twice = {name: paths for name, paths in files.items() if len(paths) > 1}
    assert not twice, f"{twice}: name a file after its main type or idea"


def test_functions_of_cxx_are_found():
    text = "int f() {\n  if (x) {\n  }\n}\nstruct S {\n  void g() const noexcept {\n\n\n  }\n};\n"
    assert list(cxx_functions(text)) == [(1, 4), (6, 4)]


def python_functions(text: str) -> Iterator[tuple[int, int]]:
    """(first line, number of lines without the docstring) of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            yield node.lineno, node.end_lineno - first.lineno + 1


def cxx_functions(text: str) -> Iterator[tuple[int, int]]:
    """(first line, number of lines) of each block that follows a parameter list and is outside of
    other such blocks."""
    lines = COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text).split("\n")
    depth, begin, outside = 0, 0, 0
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        opens = re.search(r"\)[\w\s&:<>,\->]*\{\s*$", line)
        if not begin and opens and not STATEMENT.match(line):
            begin, outside = number, depth
        depth += line.count("{") - line.count("}")
        if begin and depth <= outside:
            yield begin, number - begin + 1
            begin = 0
