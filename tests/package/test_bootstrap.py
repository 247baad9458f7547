# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/bootstrap.py makes .venv, and does not remove it while its interpreter runs the script."""

import re

import pytest
from support import package
from support.tree import ROOT


@pytest.mark.parametrize("is_inside", [True, False])
def test_bootstrap_keeps_the_venv_whose_interpreter_runs_it(tmp_path, is_inside):
    (tmp_path / ".venv").mkdir()
    # The file names the base interpreter; make_venv() writes it anew when it makes .venv again.
    (tmp_path / ".venv" / "spanwise-python").write_text("another interpreter")
    program = f"""
import bootstrap, pathlib, subprocess, sys
bootstrap.ROOT = pathlib.Path({str(tmp_path)!r})
bootstrap.VENV = bootstrap.ROOT / ".venv"
# As if ensurepip were there, which Debian packages separately.
subprocess.run = lambda command, **_: subprocess.CompletedProcess(command, 0)
bootstrap.run = lambda *_, **__: bootstrap.VENV.mkdir()
if {is_inside}:
    sys.prefix = str(bootstrap.VENV)
bootstrap.make_venv(bootstrap.VENV)
print((bootstrap.VENV / "spanwise-python").read_text())
"""
    is_kept = package.run_in_scripts(program).strip() == "another interpreter"
    assert is_kept == is_inside


def test_locked_requirements_have_every_package_with_hashes():
    def names(text):
        lines = re.findall(r"^([A-Za-z0-9][\w.-]*)", text, re.MULTILINE)
        return {re.sub(r"[-_.]+", "-", name).lower() for name in lines}

    folder = ROOT / "requirements"
    for file in folder.glob("*.txt"):
        if file.stem in ("newest", "oldest"):  # whatever others have released, and exact versions
            continue
        locked = (folder / "locked" / file.name).read_text()
        assert names(file.read_text()) <= names(locked), f"{file.name}; make lock"
        entries = re.split(r"\n(?=[A-Za-z0-9])", locked)[1:]
        assert entries and all("==" in e and "--hash=sha256:" in e for e in entries), file.name
