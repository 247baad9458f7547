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
        if "nv/target" not in error.log and "cuda/std/" not in error.log:
            raise
        pytest.skip("cooperative_groups.h needs CCCL's headers: pip install nvidia-cuda-cccl")
