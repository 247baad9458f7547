# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles by itself, without warnings, and leaks no macro without our
prefix."""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.tree import BUILD, ROOT, tree_files

# Installed from here: the public headers, and those of addons.
INCLUDES = [
    "sdk/include",
    *(str(folder.relative_to(ROOT)) for folder in ROOT.glob("addons/*/include")),
]
HEADERS = tree_files(INCLUDES, [".hpp", ".h"])
# Those of python/ need Python's headers; tests/package/test_own_bridge.py compiles them.
ALONE = [header for header in HEADERS if header.parent.name != "python"]
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def compiled() -> dict[Path, str]:
    """The compiler's complaints about each header; all compiled at once, as that is the slow
    part."""
    compiler = os.environ.get("CXX") or next(
        filter(None, map(shutil.which, ("c++", "g++", "clang++")))
    )
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++"]
    folders = [f"-I{ROOT / folder}" for folder in INCLUDES] + [f"-I{BUILD / 'generated/include'}"]

    def complaints(header: Path) -> str:
        # Through an including file: a header as main file warns about its own #pragma once.
        text = f'#include "{ROOT / header}"\n'
        command = [*compiler.split(), *flags, *folders, "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True).stderr

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(ALONE, pool.map(complaints, ALONE), strict=True))


@pytest.mark.parametrize("header", ALONE, ids=str)
def test_header_compiles_without_other_includes(header, compiled):
    assert not compiled[header], f"{header} must include what it uses:\n{compiled[header]}"


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_macros_carry_our_prefix(header):
    macros = MACRO.findall((ROOT / header).read_text())
    foreign = [name for name in macros if not name.startswith(("SW_", "SPANWISE_"))]
    assert not foreign, f"{header}: rename {foreign} to SW_..., since macros reach users' code"
