# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries of ops for tests, built with the available compilers."""

import functools
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.tree import ROOT

SOURCES = Path(__file__).parent
INCLUDE = f"-I{ROOT / 'sdk' / 'include'}"


@functools.cache
def can_link(compiler: str) -> bool:
    """Whether the compiler compiles and links a program in C++, or in C for a C compiler."""
    arguments = shlex.split(compiler)
    if shutil.which(arguments[0]) is None:
        return False
    text = "#include <string>\n" if "++" in arguments[0] else ""
    language = "c++" if "++" in arguments[0] else "c"
    arguments += ["-x", language, "-", "-o", os.devnull]
    return (
        subprocess.run(
            arguments, input=text + "int main() {}", text=True, capture_output=True
        ).returncode
        == 0
    )


def compile_plugin(command: str, source: Path, library: Path) -> Path:
    """Builds `library` from `source` and returns it; skips the test where the compiler is missing."""
    if not can_link(command):
        pytest.skip(f"{command} is not installed, or its C++ library is missing")
    arguments = [*shlex.split(command), "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    arguments += [INCLUDE, str(source), "-o", str(library)]
    completed = subprocess.run(arguments, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return library
