# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What of the CUDA toolkit a test needs and not every installation has."""

import contextlib

import pytest

import spanwise as sw


@contextlib.contextmanager
def toolkit_headers():
    """Skips where a header needs CCCL's, which NVIDIA's wheels of headers do not bring."""
    try:
        yield
    except sw.CompileError as error:
        if "nv/target" not in error.log and "cuda/std/" not in error.log:
            raise
        pytest.skip("cooperative_groups.h needs CCCL's headers: pip install nvidia-cuda-cccl")
