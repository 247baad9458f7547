# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Line coverage of CUDA kernels for coverage.py: a plug-in of it that adds the lines of ``.cu`` files and of
kernels in strings of Python files, ``ops.py (kernels)``, as the CPU runs them.

    [tool.coverage.run]
    plugins = ["spanwise.coverage"]

``pytest --cov`` measures kernels without that; ``coverage html`` afterwards needs it."""

from __future__ import annotations

import atexit
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
from ast import literal_eval
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import coverage
from coverage.data import CoverageData

from . import _core
from ._config import config as _config

__all__ = ["KernelCoverage", "coverage_init", "measure", "record"]

_VARIABLE = "SPANWISE_CPU_COVERAGE"
_PLUGIN = f"{__name__}.KernelCoverage"
#: Behind the name of a Python file: the lines of its kernels, beside which coverage.py counts those of Python.
_KERNELS = " (kernels)"
#: coverage.py keeps only lines that ran. A line of a kernel is recorded as this plus its number too, whether
#: it ran or not.
_STATEMENT = 1 << 16
_is_recorded = False
_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp")


def coverage_init(reg: Any, options: Any) -> None:
    """Called by coverage.py where its configuration names this module as a plug-in."""
    plugin = KernelCoverage()
    reg.add_configurer(plugin)
    measure()
    atexit.register(plugin.record_at_exit, os.getpid())


def measure() -> None:
    """Makes kernels that are compiled from now on count their lines, in this process and in those that it
    starts."""
    if not os.environ.get(_VARIABLE):
        folder = os.environ[_VARIABLE] = mkdtemp(prefix="spanwise-coverage-")
        atexit.register(_remove, folder, os.getpid())
    _config.cpu_coverage = os.environ[_VARIABLE]


def record(running: coverage.Coverage) -> None:
    """Adds what the kernels of this process have run to the data of `running`. KernelCoverage does so at the
    end of a process of ``coverage run``, the plug-in of pytest at the end of the tests."""
    global _is_recorded
    _is_recorded = True
    if modules := _modules():
        _add(running.get_data(), modules, running)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class KernelCoverage(coverage.CoveragePlugin):
    """The plug-in of coverage.py."""

    _configuration: Any = None

    def configure(self, config: Any) -> None:
        self._configuration = config

    def record_at_exit(self, process: int) -> None:
        """coverage.py has written its data before."""
        modules = _modules() if os.getpid() == process and not _is_recorded else []
        path = self._configuration.get_option("run:data_file")
        if not modules or not path:
            return
        data = CoverageData(
            path, suffix=bool(self._configuration.get_option("run:parallel")) or None
        )
        with suppress(coverage.exceptions.NoDataError):
            data.read()
        _add(data, modules, self._configuration)
        data.write()
        data.close()

    def file_reporter(self, filename: str) -> Any:
        return _Reporter(filename, self._configuration)


def _recorded(filename: str, configuration: Any) -> set[int]:
    """The lines of `filename` in the data file, without those of Python and of kernels that ran."""
    path = configuration.get_option("run:data_file")
    data = CoverageData(path) if path else None
    if data is None or not os.path.exists(data.data_filename()):
        return set()
    try:
        data.read()
        lines = data.lines(filename) or ()
    finally:
        data.close()
    return {line - _STATEMENT for line in lines if line > _STATEMENT}


class _Reporter(coverage.FileReporter):
    """A file of CUDA C++, or the kernels in strings of a Python file."""

    def __init__(self, filename: str, configuration: Any) -> None:
        super().__init__(filename)
        self._statements = _recorded(filename, configuration)

    def lines(self) -> set[int]:
        return self._statements

    def source(self) -> str:
        return _text_of(self.filename.removesuffix(_KERNELS))


# ---- Recording ----


class _Lines:
    """The lines of one file: all that have code, and those that ran."""

    def __init__(self) -> None:
        self.all: set[int] = set()
        self.ran: set[int] = set()

    def add(self, lines: dict[int, bool]) -> None:
        self.all.update(lines)
        self.ran.update(line for line, has_run in lines.items() if has_run)


def _modules() -> list[Path]:
    """The folders of the modules compiled so far, with the counts of this process added."""
    _core._write_coverage()
    folder = Path(_config.cpu_coverage or os.devnull)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _add(data: CoverageData, modules: Sequence[Path], configuration: Any) -> None:
    """Files of CUDA C++ count below the folders of coverage.py's source=, and Python files that it
    measures."""
    found: dict[str, _Lines] = {}
    omit = [
        os.path.abspath(pattern)
        for option in ("run:omit", "report:omit")
        for pattern in configuration.get_option(option) or ()
    ]
    places = _Places(data.measured_files(), _source_folders(configuration))
    has_arcs = data.has_arcs() if data.measured_files() else configuration.get_option("run:branch")
    for module in modules:
        for name, lines in _counted(module):
            for path, mapped in places.of(module, name, lines):
                if not any(fnmatch(path, pattern) for pattern in omit):
                    found.setdefault(path, _Lines()).add(mapped)
    if configuration.get_option("run:relative_files"):
        found = {os.path.relpath(path): lines for path, lines in found.items()}
    recorded = {
        path: each.ran | {_STATEMENT + line for line in each.all} for path, each in found.items()
    }
    if has_arcs:
        data.add_arcs({path: [(n, n) for n in lines] for path, lines in recorded.items()})
    else:
        data.add_lines(recorded)
    data.add_file_tracers(dict.fromkeys(recorded, _PLUGIN))


def _source_folders(configuration: Any) -> list[str]:
    """The folders of source= and source_pkgs=, which may name packages; by default the current one."""
    folders: list[str] = []
    for option in ("run:source", "run:source_pkgs"):
        for source in configuration.get_option(option) or ():
            spec = None if os.path.isdir(source) else find_spec(source)
            folders += [source] if spec is None else spec.submodule_search_locations or ()
    return folders or ["."]


def _counted(module: Path) -> Iterator[tuple[str, dict[int, bool]]]:
    """For each source of a compiled module that has run, whether its lines have run, by gcov."""
    for counts in sorted(module.glob("*.gcda")):
        done = subprocess.run(
            ["gcov", "--json-format", "--stdout", str(counts)],
            cwd=module,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise _core.DeviceError(
                f"coverage of kernels: gcov, which belongs to g++, failed: {done.stderr.strip()}"
            )
        for report in map(json.loads, done.stdout.splitlines()):
            for file in report["files"]:
                lines: dict[int, bool] = {}
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, False) or line["count"] > 0
                yield file["file"], lines


class _Places:
    """Where the text of a source is from."""

    def __init__(self, measured: Iterable[str], sources: Sequence[str]) -> None:
        self._roots = [os.path.realpath(each) for each in sources]
        # The data of a parallel run are in another file.
        imported = {getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]}
        measured = {*measured, *filter(self._is_below_roots, imported)}
        self._python = sorted(path for path in measured if path.endswith(".py"))
        self._strings: dict[str, list[list[tuple[str, int]]]] = {}
        self._files: dict[str, str] | None = None

    def of(
        self, module: Path, name: str, lines: dict[int, bool]
    ) -> Iterator[tuple[str, dict[int, bool]]]:
        """(file, whether its lines ran) for the lines of the source `name` of a module."""
        copy = module / "sw_sources" / name
        if os.path.isabs(name) or not copy.is_file():
            # A header of the user, of the library, or of the system.
            if (
                os.path.isabs(name)
                and self._is_below_roots(name)
                and module not in Path(name).parents
            ):
                yield os.path.realpath(name), lines
            return
        text = copy.read_text(errors="surrogateescape")
        path = self._file_with(text, name, (module / "sw_include_dirs").read_text().splitlines())
        if path is not None:
            if self._is_below_roots(path):
                yield path, lines
            return
        for python in self._python:
            if mapped := _mapped(self._strings_of(python), text, lines):
                yield python + _KERNELS, mapped

    def _is_below_roots(self, path: str) -> bool:
        path = os.path.realpath(path)
        return os.path.isfile(path) and any(path.startswith(root + os.sep) for root in self._roots)

    def _file_with(self, text: str, name: str, folders: Sequence[str]) -> str | None:
        """The file that has the text: in the folders of the compile, else below the sources."""
        for folder in reversed(folders):
            path = os.path.realpath(os.path.join(folder, name))
            if _text_of(path) == text:
                return path
        if self._files is None:
            self._files = {}
            for root in self._roots:
                for parent, children, names in os.walk(root):
                    children[:] = [
                        child
                        for child in children
                        if not child.startswith((".", "spanwise-coverage-"))
                    ]
                    for path in (os.path.join(parent, each) for each in names):
                        if path.endswith(_SUFFIXES):
                            self._files[_text_of(path)] = path
        return self._files.get(text)

    def _strings_of(self, path: str) -> list[list[tuple[str, int]]]:
        if path not in self._strings:
            self._strings[path] = list(_kernel_strings(_text_of(path)))
        return self._strings[path]


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _mapped(
    strings: Iterable[list[tuple[str, int]]], text: str, lines: dict[int, bool]
) -> dict[int, bool]:
    """The lines of a source in the strings that it is made of: of those of which it has half the lines."""
    whole = [line.strip() for line in text.splitlines()]
    mapped: dict[int, bool] = {}
    for string in strings:
        part = [line.strip() for line, _ in string]
        pairs = [
            (block.a + k, block.b + k + 1)
            for block in SequenceMatcher(None, part, whole, False).get_matching_blocks()
            for k in range(block.size)
        ]
        if 2 * sum(bool(part[i]) for i, _ in pairs) < sum(map(bool, part)):
            continue
        for i, number in pairs:
            if number in lines:
                row = string[i][1]
                mapped[row] = mapped.get(row, False) or lines[number]
    return mapped


def _kernel_strings(text: str) -> Iterator[list[tuple[str, int]]]:
    """For each string of a Python file its lines, and their numbers in the file. Adjacent strings are one."""
    middle = getattr(tokenize, "FSTRING_MIDDLE", -1)
    between = (tokenize.NL, tokenize.COMMENT)
    depth = 0  # of f-strings, whose replacement fields have tokens of their own
    lines: list[tuple[str, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            depth += tokenize.tok_name[token.type] == "FSTRING_START"
            depth -= tokenize.tok_name[token.type] == "FSTRING_END"
            if token.type in (middle, tokenize.STRING):
                value = token.string if token.type == middle else _value_of(token.string)
                rows = token.end[0] - token.start[0]
                # A backslash behind the opening quotes joins the first two lines.
                joined = int(rows - value.count("\n") == 1)
                for k, line in enumerate(value.split("\n")):
                    row = token.start[0] + min(rows, joined + k)
                    if k == 0 and lines:
                        before, row_before = lines.pop()
                        lines.append((before + line, row_before if before.strip() else row))
                    else:
                        lines.append((line, row))
            elif depth == 0 and token.type not in between:
                if any(line.strip() for line, _ in lines):
                    yield lines
                lines = []
    except (tokenize.TokenError, SyntaxError):
        return


def _value_of(literal: str) -> str:
    """Of an f-string, before Python 3.12 one token, the text with its replacement fields."""
    prefix, body = re.fullmatch(r"(\w*)(.*)", literal, re.DOTALL).groups()  # type: ignore[union-attr]
    value = literal_eval(re.sub("[fF]", "", prefix) + body)
    if not isinstance(value, str):
        return ""
    return value.replace("{{", "{").replace("}}", "}") if "f" in prefix.lower() else value
