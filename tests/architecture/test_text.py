# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""No text names a machine's paths or a package registry, and every code file has its licence
header."""

import re
from pathlib import Path

from support.tree import ROOT, project_files

# Written with a class in each word, so that this file does not find itself.
MACHINE = re.compile(
    r"(?<![\w.])/(w[o]rk|f[a]rm|r[o]ot|h[o]me/\w+)/|p[y]pi\.org|p[y]thonhosted|d[e]b\.debian\.org|/opt/w[h]eels"
)
BINARY = {".png", ".jpg", ".gif", ".npy", ".cubin", ".svg", ".json"}
LEGACY = Path("examples/legacy")  # imitates sources of 2012, which have no such header
CODE = {".cpp", ".hpp", ".h", ".cuh", ".cu", ".py", ".pyi", ".cmake"}
LICENCE = re.compile(
    r"\A(#!.*\n)?(//|#) Copyright 20\d\d The Spanwise Authors\n(//|#) SPDX-License-Identifier: Apache-2\.0\n"
)


def text_files():
    for file in project_files():
        if file.suffix not in BINARY:
            yield file, (ROOT / file).read_text()


def test_no_text_names_a_machine_or_a_registry():
    violations = [
        f"{file}:{number}: {line.strip()}"
        for file, text in text_files()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE.search(line)
    ]
    assert not violations, "\n".join(
        ["", *violations, "Use relative paths, and leave hosts to the user's settings."]
    )


def test_every_code_file_opens_with_copyright_and_licence():
    missing = [
        str(file)
        for file, text in text_files()
        if file.suffix in CODE and LEGACY not in file.parents and not LICENCE.match(text)
    ]
    assert not missing, f"two lines, as in {__file__}, are missing in: {missing}"


def test_no_string_of_a_source_holds_a_loop_of_cuda():
    """Loops of kernels are in .cuh files, which formatters, compilers and debuggers read. The CPU
    back end translates CUDA for the host's compiler, and writes such text."""
    literal = re.compile(r'R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
    violations = []
    for file, text in text_files():
        if file.suffix != ".cpp" or file.parts[0] not in ("sdk", "ops") or "backends" in file.parts:
            continue
        for match in literal.finditer(re.sub(r"//.*", "", text)):
            written = match[1] or match[2] or ""
            if re.search(r"\bfor ?\(", written) and "#pragma GCC" not in written:
                violations.append(f"{file}: {written[:100]!r}")
    assert not violations, "\n".join(
        ["", *violations, "Write a template, as those of sdk/device/strided, and embed its text."]
    )
