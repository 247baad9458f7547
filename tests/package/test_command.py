# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The command spanwise: its subcommands, versions, and variables of the environment that are not read."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw
from spanwise import __main__ as command


def spanwise(*arguments, **environment):
    words = [sys.executable, "-m", "spanwise", *arguments]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.parametrize("name", ["--version", "version"])
def test_version(name):
    done = spanwise(name)
    assert (done.returncode, done.stdout) == (0, f"spanwise {sw.__version__}\n")


def test_help_names_every_subcommand():
    done = spanwise("--help")
    assert done.returncode == 0
    for name in ("version", "doctor", "config", "legacy", "theano", "pycuda"):
        assert f"\n    {name}" in done.stdout
    for name in command.COMMANDS:
        assert f"\n    {name}" in done.stdout


@pytest.mark.parametrize("arguments", [(), ("docter",)])
def test_unknown_subcommand_is_an_error_with_the_list(arguments):
    done = spanwise(*arguments)
    assert done.returncode == 2
    assert "usage: spanwise COMMAND" in done.stderr
    assert not arguments or "'docter'" in done.stderr


def test_subcommands_are_modules_with_a_main():
    from importlib import import_module

    for module, _ in command.COMMANDS.values():
        module, _, function = module.partition(":")
        assert callable(getattr(import_module(module), function or "main"))


def test_program_is_the_same_as_the_module():
    text = (ROOT / "pyproject.toml").read_text()
    assert '[project.scripts]\nspanwise = "spanwise.__main__:run"' in text


def test_scripts_run_as_by_their_own_modules(tmp_path):
    script = tmp_path / "old.py"
    script.write_text("import pycuda.driver, sys\nprint(pycuda.driver.__name__, sys.argv[1:])\n")
    done = spanwise("pycuda", str(script), "3")
    assert (done.returncode, done.stdout) == (0, "spanwise.pycuda.driver ['3']\n"), done.stderr


def test_variables_that_are_not_read_are_named(monkeypatch):
    monkeypatch.delenv("SPANWISE_COMMIT", raising=False)  # of reports of a GPU machine
    done = spanwise("version", SPANWISE_FLOTX="float32", SPANWISE_CACHE_DIR="/tmp", SPANWISE_LOG="")
    expected = (
        "the variable SPANWISE_FLOTX of the environment is not read; did you mean SPANWISE_FLOATX?"
    )
    assert done.stderr == f"spanwise: {expected}\n"
    assert f"  {expected}\n" in spanwise("doctor", SPANWISE_FLOTX="float32").stdout


def test_compiles_and_the_cache_are_logged(caplog, tmp_path):
    number = int.from_bytes(os.urandom(4), "little")
    source = f"__global__ void logged(float *x) {{ x[0] = {number}; }}"
    with sw.config.change(cache_dir=str(tmp_path)), caplog.at_level(logging.DEBUG, "spanwise"):
        kernel = sw.SourceModule(source, device="cpu").get_function("logged")
    x = sw.asarray(np.full(1, np.nan, np.float32))
    kernel(x, block=(1, 1, 1))
    assert x.item() == np.float32(number)
    records = [
        (r.levelno, r.getMessage().split()[0]) for r in caplog.records if r.name == "spanwise"
    ]
    assert (logging.INFO, "miss") in records


def test_a_cache_that_keeps_nothing_is_a_warning(caplog, tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(0o770)
    source = f"__global__ void kept(float *x) {{ x[0] = {os.getpid()}; }}"
    with sw.config.change(cache_dir=str(tmp_path)), caplog.at_level(logging.WARNING, "spanwise"):
        sw.SourceModule(source, device="cpu")
    assert any("nothing is kept on disk" in record.getMessage() for record in caplog.records)


def test_a_reader_that_ends_early_is_no_error():
    words = [sys.executable, "-m", "spanwise", "config"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


# Each program does what Spanwise has a slower or other way for; the logger says so, once.
FALLBACKS = {
    "new arrays are on the CPU: ": "sw.ones(3), sw.ones(3)",
    "Products on the CPU run in Spanwise's own loops": (
        "with sw.config.change(blas='none'): sw.ones((300, 300)) @ sw.ones((300, 300))"
    ),
    "kernel.cu: threads run as fibers, not as loops between barriers, in k": (
        "sw.SourceModule('__global__ void k(int *x, int n) { while (n-- > 0 && x[n] < threadIdx.x)"
        " { if (x[n] == 7) __syncthreads(); x[n]++; } }', device='cpu').get_function('k')"
    ),
    "kernel.cu: code that no kernel reaches is left out, for 1 compiler errors in it": (
        "sw.SourceModule('__device__ int f() { return undeclared; } __global__ void k() {}', device='cpu')"
    ),
}


@pytest.mark.parametrize("message", FALLBACKS)
def test_fallbacks_are_logged(message, tmp_path):
    program = f"""
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
import spanwise as sw
{FALLBACKS[message]}
"""
    environment = {**os.environ, "SPANWISE_CACHE_DIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("SPANWISE_DEVICE", None)
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith(f"spanwise {message}")]
    assert len(lines) == 1, done.stderr
