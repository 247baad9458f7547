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
def toolkit_headers():
    """Skips the test if the code in the block does not compile because NVRTC does not find a header
    of the toolkit. Toolkits contain all; NVIDIA's wheels do not."""
    try:
        yield
    except sw.CompileError as error:
        signs = ("nv/target", "cuda/std/", 'namespace "std" has no member', "open source file")
        if not any(sign in error.log for sign in signs):
            raise
        pytest.skip("needs headers of a CUDA toolkit: pip install nvidia-cuda-cccl nvidia-cuda-crt")
