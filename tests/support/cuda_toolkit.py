# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What a test of kernels needs of a GPU and of its toolkit. The CPU has all of it."""

import contextlib

import pytest

import spanwise as sw


def needs(device, major, minor=0, what="this kernel"):
    """Skips the test on a GPU of a lower compute capability."""
    if device.kind == "cpu":
        return
    digits = device.properties.architecture.removeprefix("sm_").rstrip("af")
    if divmod(int(digits), 10) < (major, minor):
        pytest.skip(f"{what} needs compute capability {major}.{minor}")


@contextlib.contextmanager
def headers(device):
    """Skips the test on a GPU if NVRTC does not find a header of the toolkit."""
    try:
        yield
    except sw.CompileError as error:
        if device.kind == "cpu" or "open source file" not in error.log:
            raise
        pytest.skip("needs the headers of a CUDA toolkit")
