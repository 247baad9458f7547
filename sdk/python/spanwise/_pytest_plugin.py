# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A pytest plug-in for tests of kernels and ops: the fixtures `device` and `strided`, and the option
``--kernel-check``. pytest finds it by its entry point where Spanwise is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from .testing import LAYOUTS, with_layout


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("spanwise").addoption(
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
