# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Formatters, linters and the type checkers: lint.py lint|format

`lint` changes nothing and fails on any finding; `format` applies the formatters. A tool that is not
installed (OFFLINE=1) is reported and skipped.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from build import configure
from paths import BUILD, ROOT
from tools import environment, find_program

CXX_SUFFIXES = (".cpp", ".hpp", ".cuh", ".cu", ".h", ".inc")
GCC_ONLY_OPTIONS = ("-mmemset-strategy=", "-Wno-restrict", "-Wno-dangling-reference")
# clang-format leaves these as they are: code of others, kernels whose line numbers tests check, and
# a table with one row per line.
UNFORMATTED = ("examples/legacy/", "tests/python/kernels/", "ops/elementwise/elementwise_table.inc")


def main(mode: str) -> int:
    checks = formatters(write=mode == "format")
    if mode == "lint":
        checks += [("ruff", ["check"]), ("mypy", ["examples"]), ("mypy", ["-p", "spanwise.theano"])]
        checks.append(("pyright", ["--pythonpath", sys.executable]))  # pyproject.toml says what
    results = [passes(tool, arguments) for tool, arguments in checks]
    if mode == "lint":
        results.append(tidy_passes())
    print(
        "lint: clean"
        if all(results)
        else "lint: findings above; `make format` mends those of the formatters"
    )
    return 0 if all(results) else 1


def passes(tool: str, arguments: list[str]) -> bool:
    program = program_of(tool)
    if not program:
        return True
    print(f"-- {tool} {' '.join(arguments)[:60]}", flush=True)
    return subprocess.run([program, *arguments], cwd=ROOT, env=lint_environment()).returncode == 0


def tidy_passes() -> bool:
    """Runs clang-tidy in parallel, one file per core; prints only findings."""
    program = program_of("clang-tidy")
    if not program:
        return True
    sources = tidy_sources()
    print(f"-- clang-tidy, {len(sources)} files", flush=True)

    database = clang_database()

    def findings(source: str) -> str:
        command = [program, "-p", str(database), "--quiet", source]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return process.stdout if process.returncode else ""

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        reports = [text for text in pool.map(findings, sources) if text]
    print("".join(reports), end="")
    return not reports


def program_of(tool: str) -> str | None:
    program = find_program(tool, tool, f"data/bin/{tool}")
    if not program:
        print(f"-- {tool}: not installed, left out")
    return program


def formatters(write: bool) -> list[tuple[str, list[str]]]:
    sources = [name for name in tracked(CXX_SUFFIXES) if not name.startswith(UNFORMATTED)]
    clang_format = ["-i"] if write else ["--dry-run", "--Werror"]
    ruff_format = ["format"] if write else ["format", "--check"]
    return [("clang-format", [*clang_format, *sources]), ("ruff", ruff_format)]


def clang_database() -> Path:
    """A folder with one compile command per source, without the options that only g++ accepts.

    The release build compiles sources in batches, so its database does not list them: preset `dev`
    is configured, not built, and the generated files are those of the release build.
    """
    configure("dev")
    database = (BUILD / "dev" / "compile_commands.json").read_text()
    commands = json.loads(database.replace(str(BUILD / "dev"), str(BUILD / "release")))
    compiler = commands[0]["command"].split(" ")[0]
    standard_library = f"--gcc-install-dir={gcc_folder(compiler)}"
    for entry in commands:
        arguments = entry["command"].split(" ")
        accepted = [text for text in arguments if not text.startswith(GCC_ONLY_OPTIONS)]
        entry["command"] = " ".join([*accepted, standard_library])
    folder = BUILD / "release" / "clang-tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    return folder


def gcc_folder(compiler: str) -> Path:
    """The folder of g++'s own files, from which clang finds the same standard library."""
    command = [compiler, "-print-libgcc-file-name"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(process.stdout.strip()).parent


def tidy_sources() -> list[str]:
    """The sources to analyse: $FILES ("a.cpp b.cpp"), else all sources of the library."""
    if chosen := os.environ.get("FILES"):
        return chosen.split()
    folders = ("sdk/src/", "ops/", "bridges/", "addons/")
    return [name for name in tracked((".cpp",)) if name.startswith(folders)]


def tracked(suffixes: tuple[str, ...]) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = listing.stdout.splitlines()
    return [name for name in names if name.endswith(suffixes) and Path(ROOT, name).is_file()]


def lint_environment() -> dict[str, str]:
    return {**environment("release"), "MYPYPATH": str(BUILD / "release" / "python")}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
