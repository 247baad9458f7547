# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""How the Python tests run: parallel processes, plug-ins, GPU memory, the current GPU, AddressSanitizer."""

import json
import os
import subprocess
import sys

import pytest
from support import cuda_process, package
from support.tree import ROOT

# Set by tests/conftest.py.
GPU_MEMORY_VARIABLES = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
}


@pytest.mark.parametrize(
    ("processors", "gib", "gpu_gib", "expected"),
    [
        (2, 64, None, 2),
        (64, 256, None, 16),
        (64, 9, None, 3),
        (64, 1, None, None),
        (16, 128, 30, 7),
    ],
)
def test_workers_fit_in_memory_and_other_plugins_are_not_loaded(processors, gib, gpu_gib, expected):
    program = f"""
import os, python_tests, subprocess, workers
os.sched_getaffinity = lambda _: set(range({processors}))
workers.host_memory = lambda: {gib} << 30
workers.free_gpu_memory = lambda: {None if gpu_gib is None else gpu_gib << 30}
python_tests.installed_plugins = lambda: ["xdist"]
def run(command, env, **_):
    print(env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"], *command)
    return subprocess.CompletedProcess(command, 0)
subprocess.run = run
os.environ["PYTEST_ARGS"] = "-k strides"
assert python_tests.python_tests_pass("release", "-x")
"""
    words = package.run_in_scripts(program).splitlines()[-1].split()
    autoload_is_off, command = words[0], words[3:]  # between them, the interpreter and its -m
    assert autoload_is_off == "1"
    count = ["-n", str(expected)] if expected else []
    assert command == ["pytest", "-p", "xdist", *count, "-x", "-k", "strides"]


def test_jax_and_tensorflow_reserve_no_gpu_memory(monkeypatch):
    variables = {name: os.environ.get(name) for name in GPU_MEMORY_VARIABLES}
    assert variables == GPU_MEMORY_VARIABLES
    for name in GPU_MEMORY_VARIABLES:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "of the user")
    cuda_process.leave_gpu_memory_to_others()
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "of the user"


def test_only_the_test_that_leaves_another_gpu_current_fails(tmp_path):
    (tmp_path / "test_contexts.py").write_text("""
from support import cuda_process

current = {"context": 1}
cuda_process.current_context = lambda: current["context"]
cuda_process.current_gpu = lambda: 1
cuda_process.restore_context = lambda context: current.update(context=context)


def test_leaves_another():
    current["context"] = 2


def test_finds_the_first():
    assert current["context"] == 1
""")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-q"]
    path = os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)])
    done = subprocess.run(
        [*command, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    # conftest.py checks the context after each test, and pytest counts a failure then as an error.
    assert "2 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "leaves GPU 1 current: context 2 instead of 1" in done.stdout


def test_tests_under_asan_have_its_library_preloaded():
    program = """
import asan_python, json
asan_python.runtime_library = lambda name: f"/lib/{name}"
asan_python.build = lambda preset, targets: None
asan_python.python_tests_pass = lambda *arguments, variables: print(json.dumps([arguments, variables]))
asan_python.asan_python_tests_pass()
asan_python.asan_python_tests_pass("tests/python/graph", "-x")
"""
    without_selection, selection = map(json.loads, package.run_in_scripts(program).splitlines())
    assert without_selection[0] == ["asan-python", "tests/python", "tests/bridges", "tests/addons"]
    assert selection[0] == ["asan-python", "tests/python/graph", "-x"]
    for _, variables in (without_selection, selection):
        assert variables["LD_PRELOAD"] == "/lib/libasan.so /lib/libstdc++.so"
        assert "detect_leaks=0" in variables["ASAN_OPTIONS"]


def test_a_compiler_without_the_library_of_asan_is_named(tmp_path):
    compiler = tmp_path / "c++"
    # Asked for the path of a library that it lacks, a compiler prints only the library's name.
    compiler.write_text("#!/bin/sh\necho libasan.so\n")
    compiler.chmod(0o755)
    program = f"""
import asan_python, os
os.environ["CXX"] = "{compiler}"
try:
    asan_python.runtime_library("libasan.so")
except SystemExit as error:
    print(error)
"""
    printed = package.run_in_scripts(program)
    assert f"{compiler} has no libasan.so; expected g++" in printed
