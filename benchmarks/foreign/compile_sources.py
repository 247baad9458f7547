# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles public CUDA C sources on the CPU, unchanged, and counts those that compile.

python benchmarks/foreign/compile_sources.py FOLDER [--list sources.json] [--only PART]
                                             [--write-list FILE] [--markdown FILE]

FOLDER has one folder OWNER_NAME for each repository, with OWNER_NAME.commit beside it. Each .cu file
with __global__ is compiled by sw.wrap_cu(file).module(device="cpu"). --list limits the files to those
of a list, --write-list writes one: {"owner/name": {"commit": ..., "include_dirs": [...], "files": [...]}}.
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import spanwise as sw

# Texts in the first error of a file, and the cause that they stand for.
CAUSES = (
    (r"fatal error: (\S+): No such file", "missing header {}"),
    (r"\((\S+?)\) exist only on a GPU", "only on a GPU: {}"),
    (r"exist only on a GPU", "only on a GPU"),
    (r"inline PTX", "inline PTX"),
    (r"redefinition of|conflicting declaration|ambiguat", "clash with a header"),
    (r"[‘'](\w+)[’'] (?:was not declared|has not been declared)", "undeclared {}"),
    (r"[‘'](\w+)[’'] (?:does not name a type|is not a member)", "undeclared {}"),
    (r"[‘'](\w+)[’'] is not a class|unknown type name [‘'](\w+)[’']", "undeclared {}"),
    (r"undefined reference", "undefined reference"),
    (r"UnicodeDecodeError|codec can't decode", "not UTF-8"),
)
COMMON_FOLDERS = re.compile(r"(^|/)(common|include|inc|Common)$")


def kernel_files(folder):
    """The .cu files with __global__ below `folder`, as relative paths."""
    files = (path for path in sorted(folder.rglob("*.cu")) if path.is_file())
    return [
        str(path.relative_to(folder))
        for path in files
        if "__global__" in path.read_text(encoding="utf-8", errors="replace")
    ]


def first_error(text):
    """The first line that has an error, else the first line."""
    lines = [line for line in text.splitlines() if re.search(r"\berror\b|exist only", line)]
    return (lines or text.splitlines() or [""])[0][:300]


def cause_of(error):
    for pattern, cause in CAUSES:
        if found := re.search(pattern, error):
            return cause.format(*[group for group in found.groups() if group] or [""])
    return "other"


def compiled(job):
    """(repository, file, first error or "")."""
    repository, folder, file, include_dirs = job
    try:
        folders = [folder / name for name in include_dirs]
        sw.wrap_cu(folder / file).module(device="cpu", include_dirs=folders)
    except (sw.Error, UnicodeDecodeError) as error:
        line = first_error(str(error))
        return repository, file, line if isinstance(error, sw.Error) else "UnicodeDecodeError"
    return repository, file, ""


def read_list(arguments):
    """{repository: {"commit", "include_dirs", "files"}}"""
    if arguments.list:
        return json.loads(Path(arguments.list).read_text())
    found = {}
    for commit in sorted(arguments.folder.glob("*.commit")):
        folder = commit.with_suffix("")
        found[commit.stem.replace("_", "/", 1)] = {
            "commit": commit.read_text().strip(),
            "files": kernel_files(folder),
        }
    return found


def markdown(sources, results):
    rows = ["| repository | commit | files | compile | share |", "|---|---|---|---|---|"]
    total = Counter()
    for name, source in sources.items():
        errors = [error for repository, _, error in results if repository == name]
        good = errors.count("")
        total.update(files=len(errors), good=good)
        if errors:
            share = f"{100 * good / len(errors):.0f} %"
            rows.append(f"| {name} | {source['commit'][:7]} | {len(errors)} | {good} | {share} |")
    share = f"{100 * total['good'] / max(total['files'], 1):.0f} %"
    rows += [f"| all | | {total['files']} | {total['good']} | {share} |", ""]
    rows += ["| cause of the first error | files |", "|---|---|"]
    causes = Counter(cause_of(error) for _, _, error in results if error)
    return "\n".join([*rows, *(f"| {cause} | {count} |" for cause, count in causes.most_common())])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list")
    parser.add_argument("--only", default="")
    parser.add_argument("--write-list")
    parser.add_argument("--markdown")
    parser.add_argument("--errors", help="file for the first error of each file")
    arguments = parser.parse_args()
    sources = read_list(arguments)
    jobs = [
        (name, arguments.folder / name.replace("/", "_", 1), file, source.get("include_dirs", ()))
        for name, source in sources.items()
        for file in source["files"]
        if arguments.only in f"{name}/{file}"
    ]
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as cache:
        sw.config.cache_dir = cache
        results = list(pool.map(compiled, jobs))
    table = markdown(sources, results)
    print(table)
    if arguments.errors:
        lines = [f"{name}/{file}: {error}\n" for name, file, error in results]
        Path(arguments.errors).write_text("".join(lines))
    if arguments.write_list:
        Path(arguments.write_list).write_text(json.dumps(sources, indent=1) + "\n")
    if arguments.markdown:
        Path(arguments.markdown).write_text(table + "\n")


if __name__ == "__main__":
    main()
