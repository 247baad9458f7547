# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Line coverage of the C++ and the Python of the product by all tests: line_coverage.py [PYTEST_ARGUMENT...]

Builds the preset "coverage", runs the C++ and the Python tests with it, and prints the lines that
they reach by folder, then the functions with the most lines that no test reaches. The same is in
build/coverage/report.json, with the numbers of these lines. `--report` only prints the last run again;
`--keep` adds to the counts of earlier runs, such as those of one part of the tests or another device.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from build import build
from cxx_tests import cxx_tests_pass
from paths import BUILD, ROOT
from python_tests import python_tests_pass

PRESET = "coverage"
FOLDER = BUILD / PRESET
PYTHON_DATA = FOLDER / "python-coverage"
PRODUCT = ("sdk", "ops", "bridges", "addons")
#: Tests of the tree itself, which execute nothing of the product.
IGNORED_TESTS = ("--ignore=tests/architecture", "--ignore=tests/package")
#: Only a GPU reaches it.
CUDA = "sdk/src/backends/cuda"


@dataclass
class Source:
    """The lines with code of a file, and whether a test has reached each; functions by their first
    line: (name, last line)."""

    lines: dict[int, bool] = field(default_factory=dict)
    functions: dict[int, tuple[str, int]] = field(default_factory=dict)

    def missing(self) -> list[int]:
        return sorted(line for line, is_reached in self.lines.items() if not is_reached)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="line_coverage.py", description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="run nothing, print the last run")
    parser.add_argument("--keep", action="store_true", help="add to the counts of earlier runs")
    parser.add_argument(
        "--only",
        choices=("cxx", "python"),
        help="run only these tests; Python's with the release build",
    )
    parser.add_argument("--functions", type=int, default=40, help="number of functions to list")
    options, tests = parser.parse_known_args(arguments)
    if not options.report:
        if options.only == "python":
            build("release", ["sw_python", "sw_package"])
        else:
            build(PRESET, [])
        if not options.keep:
            remove_counts()
        run_tests(options.only, tests)
    sources = {**cxx_sources(), **python_sources()}
    write(sources)
    print_report(sources, options.functions)
    return 0


def remove_counts() -> None:
    for counts in FOLDER.rglob("*.gcda"):
        counts.unlink()
    shutil.rmtree(PYTHON_DATA, ignore_errors=True)


def run_tests(only: str | None, tests: list[str]) -> None:
    """Runs the tests. Some may fail where they measure time; the counts are valid nevertheless."""
    if only != "python":
        cxx_tests_pass(PRESET)
    if only != "cxx":
        PYTHON_DATA.mkdir(parents=True, exist_ok=True)
        settings = PYTHON_DATA / "settings"
        settings.write_text(settings_of_python())
        program = ("-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest")
        preset = "release" if only == "python" else PRESET
        python_tests_pass(preset, *(tests or IGNORED_TESTS), program=program)


def settings_of_python() -> str:
    """For coverage.py; "patch" includes processes that tests start."""
    folders = [ROOT / "sdk" / "python" / "spanwise", *ROOT.glob("addons/*/python")]
    sources = "\n    ".join(map(str, folders))
    return f"""[run]
data_file = {PYTHON_DATA / "counts"}
parallel = true
concurrency = multiprocessing, thread
patch = subprocess, _exit
disable_warnings = no-data-collected, module-not-measured, couldnt-parse
source =
    {sources}
"""


def cxx_sources() -> dict[str, Source]:
    """The C++ files of the product by their path in the tree, from gcov."""
    sources: dict[str, Source] = defaultdict(Source)
    # One process for each object: a file of notes without counts is of code that did not run.
    for notes in sorted(FOLDER.rglob("*.gcno")):
        counts = notes.with_suffix(".gcda")
        command = ["gcov", "--json-format", "--stdout", str(counts if counts.is_file() else notes)]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
        for text in done.stdout.splitlines():
            report = json.loads(text)
            for file in report["files"]:
                add_file(sources, Path(report["current_working_directory"]), file)
    return dict(sources)


def add_file(sources: dict[str, Source], folder: Path, file: dict) -> None:
    path = os.path.relpath(os.path.normpath(folder / file["file"]), ROOT)
    if path.split(os.sep)[0] not in PRODUCT:
        return
    source = sources[path]
    for line in file["lines"]:
        number = line["line_number"]
        source.lines[number] = source.lines.get(number, False) or line["count"] > 0
    for function in file["functions"]:
        source.functions[function["start_line"]] = (
            function["demangled_name"].replace("(anonymous namespace)::", "").split("(")[0],
            function["end_line"],
        )


def python_sources() -> dict[str, Source]:
    """The Python files of the product, from coverage.py."""
    if not PYTHON_DATA.is_dir():
        return {}
    coverage = [sys.executable, "-m", "coverage"]
    options = [f"--rcfile={PYTHON_DATA / 'settings'}"]
    report = PYTHON_DATA / "report.json"
    subprocess.run([*coverage, "combine", "--append", "-q", *options], cwd=ROOT)
    subprocess.run([*coverage, "json", "-q", *options, "-o", str(report)], cwd=ROOT, check=True)
    sources = {}
    for path, file in json.loads(report.read_text())["files"].items():
        source = sources[os.path.relpath(ROOT / path, ROOT)] = Source()
        source.lines = {
            **dict.fromkeys(file["executed_lines"], True),
            **dict.fromkeys(file["missing_lines"], False),
        }
        for name, function in file["functions"].items():
            lines = [*function["executed_lines"], *function["missing_lines"]]
            if name and lines:
                source.functions[min(lines)] = (name, max(lines))
    return sources


def write(sources: dict[str, Source]) -> None:
    missing = {path: source.missing() for path, source in sorted(sources.items())}
    report = {
        "files": {
            path: {"lines": len(sources[path].lines), "missing": lines}
            for path, lines in missing.items()
        }
    }
    (FOLDER / "report.json").write_text(json.dumps(report))


def folder_of(path: str) -> str:
    """The row of the table that a file belongs to."""
    parts = os.path.dirname(path).split("/")
    if path.startswith("sdk/src/backends/"):
        return "/".join(parts[:4])
    return "/".join(parts[: 3 if path.startswith(("sdk/src/", "sdk/python/")) else 2])


def print_report(sources: dict[str, Source], count: int) -> None:
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, source in sources.items():
        names = ["C++" if not path.endswith(".py") else "Python", folder_of(path)]
        if not path.endswith(".py") and not path.startswith(CUDA):
            names.append("C++ without the CUDA back end")
        for name in names:
            rows[name][0] += len(source.lines)
            rows[name][1] += len(source.lines) - len(source.missing())
    for name, (lines, reached) in sorted(rows.items()):
        print(f"{name:40} {lines:7} lines {100 * reached / max(lines, 1):6.1f} %")
    print("\nThe functions with the most lines that no test reaches:")
    for lines, path, first, name in unreached(sources)[:count]:
        print(f"{lines:5}  {path}:{first}  {name}")


def unreached(sources: dict[str, Source]) -> list[tuple[int, str, int, str]]:
    """(lines that are not reached, path, first line, name) of functions, the largest number first."""
    found = []
    for path, source in sources.items():
        if path.startswith(CUDA):
            continue
        missing = source.missing()
        for first, (name, last) in source.functions.items():
            lines = sum(first <= line <= last for line in missing)
            if lines:
                found.append((lines, path, first, name))
    return sorted(found, key=lambda each: (-each[0], *each[1:3]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
