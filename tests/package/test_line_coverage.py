# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/line_coverage.py: the lines of C++ and Python that programs reach."""

import shutil
import subprocess
import sys

import pytest
from support.tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import line_coverage

CPP = """int used(int x) {
  if (x > 100)
    return 1;
  return x;
}
int unused(int x) {
  x += 1;
  return x * 2;
}
int main() { return used(0); }
"""
PYTHON = """def used(x):
    return x


def unused(x):
    y = x + 1
    return y


used(1)
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree with one source of the product and the build folder of the preset."""
    folder = tmp_path / "build" / "coverage"
    (folder / "python-coverage").mkdir(parents=True)
    (tmp_path / "sdk" / "python" / "spanwise").mkdir(parents=True)
    monkeypatch.setattr(line_coverage, "ROOT", tmp_path)
    monkeypatch.setattr(line_coverage, "FOLDER", folder)
    monkeypatch.setattr(line_coverage, "PYTHON_DATA", folder / "python-coverage")
    return tmp_path


def test_lines_and_functions_of_cpp_that_no_test_reaches(tree, capsys):
    if not (shutil.which("g++") and shutil.which("gcov")):
        pytest.skip("gcov and g++ are not installed")
    (tree / "sdk" / "a.cpp").write_text(CPP)
    for program, source in (("reached", "sdk/a.cpp"), ("never_run", "sdk/a.cpp")):
        command = [
            "g++",
            "-O0",
            "--coverage",
            "-fprofile-abs-path",
            str(tree / source),
            "-o",
            program,
        ]
        subprocess.run(command, cwd=line_coverage.FOLDER, check=True)
    subprocess.run([line_coverage.FOLDER / "reached"], cwd=line_coverage.FOLDER, check=True)
    sources = line_coverage.cxx_sources()
    assert sources["sdk/a.cpp"].missing() == [3, 6, 7, 8]
    assert line_coverage.unreached(sources)[0] == (3, "sdk/a.cpp", 6, "unused")
    line_coverage.write(sources)
    line_coverage.print_report(sources, 5)
    printed = capsys.readouterr().out
    assert "50.0 %" in printed and "sdk/a.cpp:6  unused" in printed
    assert '"missing": [3, 6, 7, 8]' in (line_coverage.FOLDER / "report.json").read_text()


def test_lines_and_functions_of_python_that_no_test_reaches(tree):
    pytest.importorskip("coverage", reason="coverage is not installed (requirements/coverage.txt)")
    source = tree / "sdk" / "python" / "spanwise" / "a.py"
    source.write_text(PYTHON)
    settings = line_coverage.PYTHON_DATA / "settings"
    settings.write_text(line_coverage.settings_of_python())
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", str(source)]
    subprocess.run(command, cwd=tree, check=True)
    sources = line_coverage.python_sources()
    assert sources["sdk/python/spanwise/a.py"].missing() == [6, 7]
    assert line_coverage.unreached(sources) == [(2, "sdk/python/spanwise/a.py", 6, "unused")]


def test_rows_are_folders():
    rows = {
        "sdk/src/backends/cuda/launch/launch_chain.cpp": "sdk/src/backends/cuda",
        "sdk/src/core/dtype.cpp": "sdk/src/core",
        "sdk/python/module.cpp": "sdk/python",
        "sdk/python/graph/python_op.cpp": "sdk/python/graph",
        "ops/reduce/cuda/fold.cpp": "ops/reduce",
        "addons/dask/python/_ranks.py": "addons/dask",
    }
    assert {path: line_coverage.folder_of(path) for path in rows} == rows
