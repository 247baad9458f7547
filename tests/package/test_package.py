# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Another CMake project finds the installed C++ library, compiles against it and runs."""

from pathlib import Path

from support import package

HERE = Path(__file__).parent


def test_a_project_outside_the_tree_builds_and_runs(tmp_path):
    prefix, build = tmp_path / "installed", tmp_path / "build"
    # Moved, so that the test fails if an installed file contains the original path.
    prefix = package.install(prefix).rename(tmp_path / "moved")
    package.build(HERE, build, prefix)
    assert "2 x 1.5 = 3" in package.run(build / "consumer")
