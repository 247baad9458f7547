# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the CUDA toolkit that tests need and some installations lack."""

import contextlib

import pytest

import spanwise as sw


@contextlib.contextmanager
def toolkit_headers():
    """Skips the test if CCCL headers are missing, which NVIDIA's wheels of headers do not contain."""
    try:
        yield
    except sw.CompileError as error:
        missing = ("nv/target", "cuda/std/", 'namespace "std" has no member')
        if not any(words in error.log for words in missing):
            raise
        pytest.skip("needs CCCL's headers: pip install nvidia-cuda-cccl")
