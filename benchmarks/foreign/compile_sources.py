# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles public CUDA C sources on the CPU, unchanged, and counts those that compile.

python benchmarks/foreign/compile_sources.py FOLDER [--list sources.json] [--only PART]
                                             [--write-list FILE] [--markdown FILE] [--errors FILE]
                                             [--nvrtc sm_90]

FOLDER has one folder OWNER_NAME for each repository, with OWNER_NAME.commit beside it. Each .cu file
with __global__ is compiled by sw.wrap_cu(file).module(device="cpu"); with --nvrtc by NVRTC for that architecture, which needs no
GPU. --list limits the files to those
of a list, --write-list writes one: {"owner/name": {"commit": ..., "include_dirs": [...], "files": [...]}}.

A file that does not compile alone, and that another file of the repository includes, is a part of that
file: it is compiled through it, by sw.SourceModule(path=...).
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import spanwise as sw

# Patterns in the first error of a file, and the cause that they stand for.
CAUSES = (
    (r"fatal error: (\S+): No such file", "missing header {}"),
    (r"\((\S+?)\) exist only on a GPU", "only on a GPU: {}"),
    (r"exist only on a GPU", "only on a GPU"),
    (r"inline PTX", "inline PTX"),
    (r"redefinition of|conflicting declaration|ambiguat", "clash with a header"),
    (r"'(\w+)' (?:was not declared|has not been declared)", "undeclared {}"),
    (r"'(\w+)' (?:does not name a type|is not a member)", "undeclared {}"),
    (r"'(\w+)' is not a class|unknown type name '(\w+)'", "undeclared {}"),
    (r"undefined reference", "undefined reference"),
)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


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
        if match := re.search(pattern, error):
            return cause.format(*[group for group in match.groups() if group] or [""])
    return "other"


def including_files(folder, file):
    """The sources below `folder` that include `file`."""
    target = (folder / file).resolve()
    including = []
    for pattern in ("*.cu", "*.cpp", "*.c"):
        for source in sorted(folder.rglob(pattern)):
            names = INCLUDE.findall(source.read_text(encoding="utf-8", errors="replace"))
            if any((source.parent / name).resolve() == target for name in names):
                including.append(source)
    return including


def compile_file(job):
    """The result as (repository, file, first error or "", "alone" or "included")."""
    repository, folder, file, include_dirs, options, arch = job
    folders = [folder / name for name in include_dirs]
    try:
        if arch:
            path = folder / file
            text = path.read_text(encoding="utf-8", errors="replace")
            near = [path.parent, *folders]
            sw.compile(
                text, [arch], cpu=False, options=options, include_dirs=near, file_name=str(path)
            )
        else:
            sw.wrap_cu(folder / file, folders).module(
                device="cpu", include_dirs=folders, options=options
            )
        return repository, file, "", "alone"
    except sw.Error as error:
        line = first_error(str(error))
    for source in including_files(folder, file) if not arch else ():
        try:
            sw.SourceModule(path=source, device="cpu", include_dirs=folders, options=options)
            return repository, file, "", "included"
        except sw.Error as error:
            line = first_error(str(error))
    return repository, file, line, "alone"


def find_sources(arguments):
    """{repository: {"commit", "include_dirs", "files"}} from --list, else all kernel_files()"""
    if arguments.list:
        return json.loads(Path(arguments.list).read_text())
    sources = {}
    for commit in sorted(arguments.folder.glob("*.commit")):
        folder = commit.with_suffix("")
        sources[commit.stem.replace("_", "/", 1)] = {
            "commit": commit.read_text().strip(),
            "files": kernel_files(folder),
        }
    return sources


def markdown(sources, results):
    rows = ["| repository | commit | files | compile | of these as a part | share |"]
    rows.append("|---|---|---|---|---|---|")
    for name, source in [*sources.items(), ("all", {"commit": ""})]:
        chosen = [result for result in results if name in (result[0], "all")]
        compiled = sum(not error for _, _, error, _ in chosen)
        parts = sum(compiled_as == "included" for _, _, _, compiled_as in chosen)
        share = f"{100 * compiled / max(len(chosen), 1):.0f} %"
        cells = (name, source["commit"][:7], len(chosen), compiled, parts, share)
        if chosen:
            rows.append(f"| {' | '.join(map(str, cells))} |")
    rows += ["", "| cause of the first error | files |", "|---|---|"]
    causes = Counter(cause_of(error) for _, _, error, _ in results if error)
    return "\n".join([*rows, *(f"| {cause} | {count} |" for cause, count in causes.most_common())])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list")
    parser.add_argument("--only", default="")
    parser.add_argument("--write-list")
    parser.add_argument("--markdown")
    parser.add_argument("--nvrtc", metavar="ARCH", help="compile for a GPU instead, such as sm_90")
    parser.add_argument("--errors", help="file for the first error of each file")
    arguments = parser.parse_args()
    sources = find_sources(arguments)
    jobs = [
        (
            name,
            arguments.folder / name.replace("/", "_", 1),
            file,
            source.get("include_dirs", ()),
            source.get("options", ()),
            arguments.nvrtc,
        )
        for name, source in sources.items()
        for file in source["files"]
        if arguments.only in f"{name}/{file}"
    ]
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as cache:
        sw.config.cache_dir = cache
        results = list(pool.map(compile_file, jobs))
    table = markdown(sources, results)
    print(table)
    if arguments.errors:
        lines = [f"{name}/{file}: {error}\n" for name, file, error, _ in results]
        Path(arguments.errors).write_text("".join(lines))
    if arguments.write_list:
        Path(arguments.write_list).write_text(json.dumps(sources, indent=1) + "\n")
    if arguments.markdown:
        Path(arguments.markdown).write_text(table + "\n")


if __name__ == "__main__":
    main()
