# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops outside the tree: examples/05_plugin, built against the installed package and run."""

import os
import re
import sys

import pytest
from support import package
from support.tree import ROOT

EXAMPLE = ROOT / "examples" / "05_plugin"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    package.build(EXAMPLE, folder / "build", package.install(folder / "installed"))
    return folder / "build" / "libsignal_ops.so"


def test_plugin_example_computes_and_rejects_short_input(library, device):
    out = package.run(sys.executable, EXAMPLE / "use_signal.py", library, "--device", device)
    smooth, highest, refusal = out.splitlines()
    assert smooth.startswith(f"{device}: [signal.moving_mean{{width=4}}(")
    assert "signal.running_maximum(" in highest
    assert refusal == "signal.moving_mean{width=4}: x: expected at least 4 elements, got 3"


def test_cmake_dir_prints_the_folder_of_the_package(tmp_path, monkeypatch, capsys):
    from spanwise import cmake_dir

    monkeypatch.setattr(cmake_dir, "__file__", str(tmp_path / "cmake_dir.py"))
    assert cmake_dir.main([]) == 1
    assert "set spanwise_ROOT" in capsys.readouterr().err
    prefix = package.install(tmp_path)
    assert cmake_dir.main([]) == 0
    assert capsys.readouterr().out == f"{prefix / 'lib' / 'cmake' / 'spanwise'}\n"


PAGE = (ROOT / "docs" / "op-sdk.md").read_text()


def code_blocks(language):
    """The page's blocks of code in a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_code_of_the_plugin_page_builds_and_prints_as_shown(tmp_path):
    for language, name in {"cpp": "my_ops.cpp", "cmake": "CMakeLists.txt", "py": "use.py"}.items():
        (tmp_path / name).write_text(code_blocks(language)[0])
    package.build(tmp_path, tmp_path / "build", package.install(tmp_path / "installed"))
    path = os.pathsep.join(p for p in sys.path if p)
    out = package.run(sys.executable, "use.py", cwd=tmp_path, env=dict(os.environ, PYTHONPATH=path))
    assert out.splitlines() == re.findall(r"print.*# (.*)", code_blocks("py")[0])


def test_cpp_program_of_the_page_runs(tmp_path):
    for language, name in {"cpp": "halve.cpp", "cmake": "CMakeLists.txt"}.items():
        (tmp_path / name).write_text(code_blocks(language)[1])
    package.build(tmp_path, tmp_path / "build", package.install(tmp_path / "installed"))
    assert package.run(tmp_path / "build" / "halve") == "2.5\n"
