# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A pytest plug-in for tests of kernels and ops: the fixtures `device` and `strided`, the options
``--kernel-check`` and ``--compute-sanitizer``, and line coverage of kernels with pytest-cov's ``--cov``.
pytest finds it by its entry point where Spanwise is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from .testing import LAYOUTS, with_layout

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_FINDINGS, _LINES_SHOWN = 86, 60  # an exit code that pytest does not use; of the tool's report


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("spanwise")
    group.addoption(
        "--compute-sanitizer",
        nargs="?",
        const="memcheck",
        choices=(*TOOLS, "all"),
        help="run each test that passes on a GPU again under this tool of NVIDIA's compute-sanitizer "
        "(memcheck by default), whose findings are failures of the test",
    )
    group.addoption(
        "--kernel-check",
        nargs="?",
        const="all",
        choices=("bounds", "order", "all"),
        help="check each launch of a kernel: accesses out of bounds, results that depend on the order of threads",
    )


def pytest_configure(config: Any) -> None:
    check = config.getoption("--kernel-check")
    if check:
        from . import config as settings

        settings.kernel_check = check
    if config.getoption("--compute-sanitizer"):
        _sanitizer()
    if _measures_coverage(config):
        from .coverage import measure

        if hasattr(config, "workerinput"):  # a process of pytest-xdist has its own counts
            os.environ.pop("SPANWISE_CPU_COVERAGE", None)
        measure()


def _measures_coverage(config: Any) -> bool:
    """Whether pytest-cov measures these tests."""
    plugin = config.pluginmanager.getplugin("_cov")
    return plugin is not None and not config.getoption("no_cov", False)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: Any) -> Generator[None, Any, Any]:
    """Records the lines of kernels before pytest-cov, whose wrapper is around this one, writes its reports."""
    result = yield
    if _measures_coverage(session.config):
        import coverage

        from .coverage import record

        controller = session.config.pluginmanager.getplugin("_cov").cov_controller
        if running := coverage.Coverage.current():
            record(running)
        if reporting := getattr(controller, "combining_cov", None):
            plugins = [*reporting.get_option("run:plugins"), "spanwise.coverage"]
            reporting.set_option("run:plugins", list(dict.fromkeys(plugins)))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Generator[None, Any, Any]:
    result = yield
    chosen = pyfuncitem.config.getoption("--compute-sanitizer")
    where = getattr(pyfuncitem, "callspec", None)
    if chosen and not (where and str(where.params.get("device")).startswith("cpu")):
        for tool in TOOLS if chosen == "all" else (chosen,):
            _run_under(tool, pyfuncitem)
    return result


def _sanitizer() -> str:
    """compute-sanitizer of PATH, else of the CUDA toolkit."""
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for path in (None, *(os.path.join(folder, "bin") for folder in folders if folder)):
        if program := shutil.which("compute-sanitizer", path=path):
            return program
    raise pytest.UsageError(
        "--compute-sanitizer: found no compute-sanitizer in PATH, nor in bin/ of CUDA_HOME and "
        "/usr/local/cuda; install the CUDA toolkit's package cuda-sanitizer"
    )


def _run_under(tool: str, item: Any) -> None:
    """Runs the test alone in a process of its own under the tool, and fails with what it reports."""
    config = item.config
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [_sanitizer(), f"--tool={tool}", f"--error-exitcode={_FINDINGS}"]
        # Only the process of the test; tests may provoke errors of the driver.
        command += ["--target-processes=application-only", "--show-backtrace=device"]
        command += ["--report-api-errors=no"] if tool == "memcheck" else []
        command += [f"--log-file={log}", sys.executable, "-m", "pytest", item.nodeid, "-q"]
        command += ["-p", "no:cacheprovider", f"--rootdir={config.rootpath}", "-o", "addopts="]
        command += [f"--import-mode={config.getoption('importmode')}"]
        command += [word for name in config.getoption("plugins") for word in ("-p", name)]
        command += ["-c", str(config.inipath)] if config.inipath else []
        # Memory that is kept for reuse is larger than the arrays, which hides accesses out of bounds.
        environment = {**os.environ, "PYTEST_ADDOPTS": "", "SPANWISE_KEEP_BLOCKS": "0"}
        done = subprocess.run(
            command,
            cwd=config.rootpath,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        report = log.read_text().splitlines() if log.exists() else []
    if done.returncode == 0:
        return
    text = report if done.returncode == _FINDINGS else (done.stdout + done.stderr).splitlines()
    reason = "found" if done.returncode == _FINDINGS else "the test, which passed before, fails:"
    shown = text[:_LINES_SHOWN] if done.returncode == _FINDINGS else text[-_LINES_SHOWN:]
    pytest.fail("\n".join([f"compute-sanitizer {tool}: {reason}", *shown]), pytrace=False)


def pytest_generate_tests(metafunc: Any) -> None:
    # Not by params= of the fixture: pytest loads the plug-in also for tests that touch no device.
    definitions = getattr(metafunc, "_arg2fixturedefs", {}).get("device", ())
    if definitions and definitions[-1].baseid == "" and definitions[-1].func.__module__ == __name__:
        from . import devices

        metafunc.parametrize("device", [str(each) for each in devices()], indirect=True)


@pytest.fixture
def device(request: Any) -> Any:
    """Each device of this machine in turn, the CPU and the GPUs, as a spanwise.device. It is the default
    device during the test."""
    from . import device as device_of

    with device_of(request.param) as current:
        yield current or device_of(request.param)


@pytest.fixture(params=LAYOUTS)
def strided(request: Any) -> Callable[[Any], Any]:
    """A function that gives the elements of an array other strides, one of spanwise.testing.LAYOUTS; the
    test runs once for each."""
    return partial(with_layout, layout=request.param)
