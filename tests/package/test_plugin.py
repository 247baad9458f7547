# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops outside the tree: examples/05_plugin, built against the installed package and run."""

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


def test_the_example(library, device):
    out = package.run(sys.executable, EXAMPLE / "use_signal.py", library, "--device", device)
    smooth, highest, refusal = out.splitlines()
    assert smooth.startswith(f"{device}: [signal.moving_mean{{width=4}}(")
    assert "signal.running_maximum(" in highest
    assert refusal == "signal.moving_mean{width=4}: x: expected at least 4 elements, got 3"


def test_where_cmake_finds_the_package(tmp_path):
    from spanwise import cmake_dir

    assert cmake_dir.find(tmp_path) is None
    prefix = package.install(tmp_path)
    assert cmake_dir.find(prefix) == prefix / "lib" / "cmake" / "spanwise"
